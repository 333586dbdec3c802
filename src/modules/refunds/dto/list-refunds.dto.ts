import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, ListQueryDto, Omittable } from '../../../platform/http';

export class ListRefundsDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the refunds of this payment.' })
  readonly payment_id?: string;
}
