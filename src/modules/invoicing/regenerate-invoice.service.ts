import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { assertVersion, type VersionCondition } from '../../platform/database';
import { raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import type { Customer } from '../customers';
import { BilledLinesRepository } from './billed-lines.repository';
import { BillingContextService } from './billing-context.service';
import { timeZoneOf } from './domain/decide-coupons';
import type { RefundedOf } from './domain/given-back';
import { returnedBy } from './domain/held-lines';
import type { Invoice } from './domain/invoice';
import type { CreditLineRequest } from './domain/line-item-request';
import type { BillingPeriods } from './domain/billing-request';
import { isNoLongerOwed, regeneratedFrom, type ChargeState } from './domain/regenerate';
import { usageToRebill, usagePeriodsOf } from './domain/usage-to-rebill';
import { InvoicesRepository } from './invoices.repository';
import {
  invoiceNotFound,
  invoiceNotVoid,
  invoiceOvertaken,
  invoiceRegenerated,
} from './invoicing.errors';
import { invoiceCreated } from './invoicing.events';
import { FinalizationService } from './finalization.service';
import { assertNotTooLarge } from './issue-invoice.service';
import { UsageReadingsService } from './usage-readings.service';

/** Present data with which a void invoice is regenerated, that is, replaced by a new invoice. */
export interface RegenerationContext {
  /** Versions that the void invoice may have; any other is refused. */
  readonly expected: VersionCondition;
  readonly customer: Customer;
  readonly charges: ChargeState;
  readonly refunded: RefundedOf;
  /** Billing periods of earlier bills that the new invoice corrects. */
  readonly periods: BillingPeriods;
}

@Injectable()
export class RegenerateInvoiceService {
  constructor(
    private readonly invoices: InvoicesRepository,
    private readonly contexts: BillingContextService,
    private readonly billed: BilledLinesRepository,
    private readonly finalization: FinalizationService,
    private readonly usage: UsageReadingsService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Makes an invoice that replaces a void one, in the caller's transaction. A void invoice can be replaced once. The
   * new invoice has the same charges, with the present coupons, taxes and credit. It bills only usage that no other
   * invoice has billed since the void. The caller has locked the customer, and the charges and payments that were read
   * for the context.
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invoice_not_void`, `invoice_reissued`,
   *   `invoice_overtaken`, `invoice_too_large`, `usage_archived`
   */
  async regenerate(
    id: string,
    { expected, customer, charges, refunded, periods }: RegenerationContext,
    readAt: Date,
  ): Promise<Invoice> {
    const whole = await this.lockVoid(id, expected);
    const now = changedAt(readAt, whole);
    if (isNoLongerOwed(whole, charges)) throw invoiceOvertaken(id);
    const voided = await this.usage.lockUnarchived(
      whole,
      `The invoice ${id} billed some of them, and cannot be regenerated without them. Create an invoice with its lines instead, but without usage that a later invoice has billed.`,
    );
    const request = {
      ...voided,
      lines: [],
      refunded,
      late: await this.usage.billedBy(voided),
      lateUsage: 'billed' as const,
      creditRequests: this.creditsOf(voided),
      returnsTo: voided.lines.flatMap(returnedBy).map(({ redemptionId }) => redemptionId),
      periods,
      timeZone: timeZoneOf(voided.lines),
      billingPeriod: charges.billingPeriod,
      hasEnded: charges.hasEnded,
    };
    const context = await this.contexts.load(request, customer, now);
    const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
    const usage = usageToRebill(voided, context.usage);
    const draft = regeneratedFrom(voided, charges, { ...context, ...usage }, ids, now);
    if (draft.lines.length === 0) throw invoiceOvertaken(id);
    assertNotTooLarge(draft);
    await this.invoices.insertAll([draft]);
    const billed = { ...context, usage: [...usage.first, ...usage.late, ...usage.unchanged] };
    await this.usage.record([{ request, context: billed, invoice: draft }], now);
    await this.outbox.record(invoiceCreated, { after: draft, occurredAt: now });
    return this.finalization.finalize(draft, draft, customer, now);
  }

  /** Returns requests from which the credit lines of an invoice can be calculated again. */
  creditsOf({ lines }: Invoice): readonly CreditLineRequest[] {
    return lines.flatMap(({ kind, itemId, period }) =>
      kind === 'credit' && itemId !== null && period !== null
        ? [{ kind, itemId, unusedFrom: period.startAt, end: 'border' as const }]
        : [],
    );
  }

  /**
   * Returns the ids of finalized, non-void invoices that billed usage of the same items and periods as `invoice`. When
   * `invoice` is regenerated, usage corrections may take back amounts of these other invoices.
   */
  correctedBy(invoice: Invoice): Promise<readonly string[]> {
    return this.billed.invoicesOfUsage(usagePeriodsOf(invoice));
  }

  /** Returns the subscription id and the start of each period whose usage the invoice billed. */
  correctedFrom(invoice: Invoice): readonly (readonly [string, Date])[] {
    const { subscriptionId } = invoice;
    if (subscriptionId === null) return [];
    return usagePeriodsOf(invoice).map(({ period }) => [subscriptionId, period.startAt] as const);
  }

  private async lockVoid(id: string, expected: VersionCondition): Promise<Invoice> {
    const voided = (await this.invoices.lock(id)) ?? raise(invoiceNotFound(id));
    assertVersion(expected, voided);
    if (voided.status !== 'void') throw invoiceNotVoid(id, voided.status);
    const regenerated = await this.invoices.findRegeneratedFrom(id);
    if (regenerated !== null) throw invoiceRegenerated(id, regenerated);
    return voided;
  }
}
