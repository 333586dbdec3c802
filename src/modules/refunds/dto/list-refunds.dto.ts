import { ListQueryDto, ReferenceFilter } from '../../../platform/http';

export class ListRefundsDto extends ListQueryDto {
  @ReferenceFilter('Only the refunds of this payment.') readonly payment_id?: string;
}
