import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../../../platform/database';
import { EventLog, type EventLogFilter, type RecordedEvent } from '../../../platform/outbox';
import { CustomersService } from '../../customers';

export interface EventListFilter extends EventLogFilter {
  readonly testClockId: string | null;
}

@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventLog,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Returns a page of matching events, newest first.
   * @throws {ProblemError} `invalid_cursor` if the last event of the previous page was deleted meanwhile
   */
  async list(
    { testClockId, ...filter }: EventListFilter,
    request: PageRequest,
  ): Promise<Page<RecordedEvent>> {
    if (testClockId === null) return this.events.page(filter, request);
    const onClock = await this.customers.idsOnTestClock(testClockId);
    const asked = filter.customerIds;
    const customerIds = asked === null ? onClock : onClock.filter((id) => asked.includes(id));
    return this.events.page({ ...filter, customerIds }, request);
  }
}
