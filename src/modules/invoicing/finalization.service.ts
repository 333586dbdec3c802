import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { isWireSafe } from '../../core/money';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { RedemptionsService } from '../coupons';
import type { Customer } from '../customers';
import { CreditGrantsRepository } from './credit-grants.repository';
import { appliedBy } from './coupon-effects';
import { grantOf } from './domain/credit-grant';
import type { DecidedInvoice, OwedBySubscription } from './domain/decide-in-sequence';
import type { EarnedPeriod } from './domain/earned-period';
import { finalized } from './domain/finalize';
import type { Invoice } from './domain/invoice';
import type { BillingRequest } from './domain/billing-request';
import { InvoicePostings, type UsedCredit } from './invoice-postings';
import { invoiceTooLarge } from './invoicing.errors';
import { eventsOfFinalizing, invoiceFinalized } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { LowerOpenInvoicesService } from './lower-open-invoices.service';
import { InvoiceTextsService } from './invoice-texts.service';

const DIGITS_OF_A_NUMBER = 6;

const nothing = (): Promise<void> => Promise.resolve();

/** Finalizes calculated drafts: uses their credit and coupons, posts and numbers them, and records their events. */
@Injectable()
export class FinalizationService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly openInvoices: LowerOpenInvoicesService,
    private readonly redemptions: RedemptionsService,
    private readonly postings: InvoicePostings,
    private readonly texts: InvoiceTextsService,
    private readonly outbox: Outbox,
  ) {}

  owedBySubscription(
    requests: readonly Pick<BillingRequest, 'customerId' | 'subscriptionId'>[],
  ): Promise<OwedBySubscription> {
    return this.openInvoices.owedBySubscription(requests);
  }

  /**
   * Finalizes a draft whose amounts were calculated in this transaction. Its billed amounts never change afterwards.
   * @param before the stored draft; the event `invoice.finalized` shows how its amounts changed
   */
  async finalize(draft: Invoice, before: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    const drafts = [{ before, invoice: draft, added: grantOf(draft, newId('crd'), now) }];
    const [invoice] = await this.finalizeAll(drafts, new Map([[customer.id, customer]]), now);
    invariant(invoice !== undefined, `The draft ${draft.id} was finalized.`);
    return invoice;
  }

  /**
   * Finalizes drafts in the given order.
   * @param drafts each with `before`, the stored draft; the event `invoice.finalized` shows how its amounts changed
   * @param beforeNumbers other work of the transaction. Must be done before invoice numbers are taken, because taking a
   *   number locks the number series until the transaction ends
   */
  async finalizeAll(
    drafts: readonly (DecidedInvoice & { readonly before: Invoice })[],
    customers: ReadonlyMap<string, Customer>,
    now: Date,
    beforeNumbers: () => Promise<void> = nothing,
  ): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    await this.settle(drafts, [], now);
    await beforeNumbers();
    if (drafts.length === 0) return [];
    const invoices = await this.number(
      drafts.map(({ invoice }) => invoice),
      customers,
      now,
    );
    await this.invoices.updateFinalized(invoices);
    await this.outbox.recordAll(
      invoices.flatMap((invoice, index) => {
        const draft = drafts[index];
        invariant(draft !== undefined, 'every invoice was a draft');
        return eventsOfFinalizing(invoiceFinalized.toDto(draft.before), invoice);
      }),
    );
    return invoices;
  }

  /**
   * Uses the credit and the coupons of drafts, and posts the drafts to the ledger. Does not store or number the drafts.
   * @param earned billing periods that are over, whose deferred revenue is recognized by the same call
   */
  async settle(
    drafts: readonly DecidedInvoice[],
    earned: readonly EarnedPeriod[],
    now: Date,
  ): Promise<void> {
    const invoices = drafts.map(({ invoice }) => invoice);
    const used = drafts.length > 0 ? await this.applyAll(drafts, now) : [];
    await this.postings.postFinalized(invoices, earned, now);
    await this.postings.postCreditApplied(used);
  }

  /**
   * Finalizes drafts that were posted by `settle`: gives them the next invoice numbers, in the given order. Does not
   * store them. Call it last, so that the number series is locked only while the invoice rows and the events are
   * written.
   */
  async number(
    drafts: readonly Invoice[],
    customers: ReadonlyMap<string, Customer>,
    now: Date,
  ): Promise<readonly Invoice[]> {
    const numbers = await this.takeNumbers(
      drafts.map(({ customerId }) => seriesOf(customers.get(customerId))),
    );
    const invoices = drafts.map((draft, index) => {
      const customer = customers.get(draft.customerId);
      const number = numbers[index];
      invariant(customer !== undefined, 'the customer of an invoice was read');
      invariant(number !== undefined, 'every invoice has a number');
      const invoice = finalized(draft, number, this.texts.snapshotsOf(customer), now);
      return { ...invoice, version: draft.version + 1 };
    });
    this.texts.reportFinalized(invoices);
    return invoices;
  }

  /**
   * Uses the credit and the coupons of drafts. Adds the amount of each credit line to the credited amount of the line
   * that it credits. Stores the credit from negative drafts, and uses it to lower the amounts that their subscriptions
   * owe.
   * @returns the credit from negative drafts that lowered other invoices
   * @throws {ProblemError} `invoice_too_large` if the sum of all discounts of a coupon is larger than JSON can
   *   represent
   */
  private async applyAll(
    drafts: readonly DecidedInvoice[],
    now: Date,
  ): Promise<readonly UsedCredit[]> {
    const invoices = drafts.map(({ invoice }) => invoice);
    await this.grants.insertAll(drafts.flatMap(({ added }) => added ?? []));
    await this.grants.useAll(invoices.flatMap(({ credits }) => credits));
    const used = await this.openInvoices.lowerAll(drafts, now);
    await this.invoices.addCredited(
      invoices.flatMap(({ lines }) =>
        lines.flatMap(({ creditsLineId: lineId, amount }) =>
          lineId === null ? [] : [{ lineId, amount: -amount }],
        ),
      ),
    );
    const redemptions = await this.redemptions.recordApplied(invoices.flatMap(appliedBy), now);
    if (!redemptions.every(({ appliedAmount }) => isWireSafe(appliedAmount)))
      throw invoiceTooLarge();
    return used;
  }

  private async takeNumbers(series: readonly string[]): Promise<readonly string[]> {
    const next = new Map<string, bigint>();
    for (const name of [...new Set(series)].sort()) {
      const count = series.filter((one) => one === name).length;
      next.set(name, await this.invoices.takeNumbers(name, count));
    }
    return series.map((name) => {
      const number = next.get(name);
      invariant(number !== undefined, 'every series gave its numbers');
      next.set(name, number + 1n);
      return `${name}-${number.toString().padStart(DIGITS_OF_A_NUMBER, '0')}`;
    });
  }
}

/**
 * Returns the name of the number series of a customer. Customers on test clocks have their own series, so that tests
 * use up no real invoice numbers.
 */
function seriesOf(customer: Customer | undefined): string {
  invariant(customer !== undefined, 'the customer of an invoice was read');
  return customer.testClockId === null ? 'INV' : 'TEST';
}
