import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { ListQueryDto, Omittable } from '../../../platform/http';

export class ListRefundsDto extends ListQueryDto {
  @Omittable()
  @IsString()
  @Length(1, 40)
  @ApiPropertyOptional({ description: 'Only the refunds of this payment.' })
  readonly payment_id?: string;
}
