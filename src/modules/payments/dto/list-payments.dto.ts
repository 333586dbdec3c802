import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { ListQueryDto, Omittable } from '../../../platform/http';

export class ListPaymentsDto extends ListQueryDto {
  @Omittable()
  @IsString()
  @Length(1, 40)
  @ApiPropertyOptional({ description: 'Only the payments of this customer.' })
  readonly customer_id?: string;
}
