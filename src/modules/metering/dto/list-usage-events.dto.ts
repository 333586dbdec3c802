import { IdField, InstantField, ListQueryDto, TextField } from '../../../platform/http';
import type { UsageEventFilter } from '../usage-store';

const MAX_EVENT_NAME_LENGTH = 100;

export class ListUsageEventsDto extends ListQueryDto {
  @IdField('cus', 'Id of the customer.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @TextField('Only events of this name.', { max: MAX_EVENT_NAME_LENGTH, optional: true })
  readonly event_name?: string;
  @InstantField('Only events with this timestamp or later.', { optional: true })
  readonly from?: string;
  @InstantField('Only events with an earlier timestamp.', { optional: true }) readonly to?: string;
}

export function toEventFilter(query: ListUsageEventsDto): UsageEventFilter {
  return {
    customerId: query.customer_id,
    eventName: query.event_name ?? null,
    from: query.from === undefined ? null : new Date(query.from),
    to: query.to === undefined ? null : new Date(query.to),
  };
}
