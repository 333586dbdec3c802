import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { ListQueryDto, Omittable } from '../../../../platform/http';
import { DISCREPANCY_STATUSES, type DiscrepancyStatus } from '../domain/discrepancy';

export class ListDiscrepanciesDto extends ListQueryDto {
  @Omittable()
  @IsIn(DISCREPANCY_STATUSES)
  @ApiPropertyOptional({ enum: DISCREPANCY_STATUSES, description: 'Only those with this status.' })
  readonly status?: DiscrepancyStatus;
}
