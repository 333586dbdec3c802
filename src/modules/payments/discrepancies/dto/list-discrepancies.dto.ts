import { EnumField, ListQueryDto } from '../../../../platform/http';
import { DISCREPANCY_STATUSES, type DiscrepancyStatus } from '../domain/discrepancy';

export class ListDiscrepanciesDto extends ListQueryDto {
  @EnumField(DISCREPANCY_STATUSES, 'Only those with this status.', { optional: true })
  readonly status?: DiscrepancyStatus;
}
