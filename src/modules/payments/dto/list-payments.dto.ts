import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, ListQueryDto, Omittable } from '../../../platform/http';

export class ListPaymentsDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the payments of this customer.' })
  readonly customer_id?: string;
}
