import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { Outbox, toEventRecord } from '../../../platform/outbox';
import type { LateUsage } from '../domain/late-usage';
import { FinalUsageService } from '../final-usage.service';
import { usageLate } from '../usage.events';

/** Marks the bills $1 as having late usage. Also marks all other bills of the same stream, meter and period. */
const MARK_LATE = `
  UPDATE usage_billed AS billed SET is_late = true FROM usage_billed AS one
  WHERE one.id = ANY ($1) AND billed.stream_id = one.stream_id AND billed.meter_id = one.meter_id
    AND billed.period_start_at = one.period_start_at AND billed.period_end_at = one.period_end_at
    AND NOT billed.is_late`;

/**
 * Records late usage: events that were stored or voided after their period was billed. The next invoice bills the
 * difference.
 */
@Injectable()
export class LateUsageWriter {
  constructor(
    private readonly database: Database,
    private readonly finalUsage: FinalUsageService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Marks the bills of late usage, plans invoices for subscriptions that have ended, and records an event `usage.late`
   * for each item of `late`. Must be called in the transaction that stores or voids the events and has locked their
   * streams.
   */
  async write(late: readonly LateUsage[], now: Date): Promise<void> {
    this.database.requireTransaction();
    if (late.length === 0) return;
    const billedIds = late.map(({ billedId }) => billedId);
    await this.database.query(MARK_LATE, [billedIds]);
    await this.finalUsage.planForBills(billedIds);
    await this.outbox.recordAll(
      late.map((usage) => toEventRecord(usageLate, { after: usage, occurredAt: now })),
    );
  }
}
