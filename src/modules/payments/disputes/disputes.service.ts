import { Injectable, Logger } from '@nestjs/common';
import { postDisputeLost, postDisputeReinstated, postDisputeWithdrawn } from '../../../core/ledger';
import { lesser } from '../../../core/money';
import { changedAt } from '../../../core/next-version';
import { Database, type Page, type PageRequest } from '../../../platform/database';
import { raise } from '../../../platform/errors';
import { newId } from '../../../platform/ids';
import { Outbox } from '../../../platform/outbox';
import { CreditBalanceService } from '../../invoicing';
import { LedgerService } from '../../ledger';
import type { Payment } from '../domain/payment';
import type { ProviderName } from '../domain/payment-provider';
import type { ReportedDispute } from '../domain/reported-dispute';
import { PaymentRecordsService } from '../payment-records.service';
import {
  type Dispute,
  type DisputeFilter,
  type DisputeMoney,
  isDecided,
  newDispute,
  withReport,
} from './domain/dispute';
import { disputeNotFound } from './disputes.errors';
import { disputeClosed, disputeCreated, disputeUpdated } from './disputes.events';
import { DisputesRepository } from './disputes.repository';
import { LostCreditService } from './lost-credit.service';

@Injectable()
export class DisputesService {
  private readonly logger = new Logger('disputes');

  constructor(
    private readonly database: Database,
    private readonly disputes: DisputesRepository,
    private readonly payments: PaymentRecordsService,
    private readonly credit: CreditBalanceService,
    private readonly losses: LostCreditService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  /** @throws {ProblemError} `dispute_not_found` */
  async get(id: string): Promise<Dispute> {
    return (await this.disputes.find(id)) ?? raise(disputeNotFound(id));
  }

  list(filter: DisputeFilter, request: PageRequest): Promise<Page<Dispute>> {
    return this.disputes.page(filter, request);
  }

  /**
   * Returns the version of the recorded dispute; 0 if the dispute is not recorded.
   * @param reference the provider's id of the dispute
   */
  async versionOf(provider: ProviderName, reference: string): Promise<number> {
    return (await this.disputes.findByReference(provider, reference))?.version ?? 0;
  }

  /**
   * Applies a report of the provider: stores the dispute, records its events, posts the moved funds to the ledger, and
   * updates the payment. A repeated report changes nothing.
   * @param knownVersion version of the dispute before the provider was asked; 0 if the dispute was not recorded
   * @returns false if the caller must ask the provider again, because `reported` may be outdated. This is the case if
   *   another report was applied meanwhile (then nothing is stored), or if the status changed. The provider may have
   *   changed the status back since, without a new version here
   */
  record(paymentId: string, reported: ReportedDispute, knownVersion: number): Promise<boolean> {
    return this.database.transaction(async () => {
      const payment = await this.payments.lockWithCustomer(paymentId);
      const { customerId, provider, currency } = payment;
      const found = await this.disputes.findByReference(provider, reported.providerReference);
      const now = changedAt(await this.payments.followingTimeOf(payment), found);
      const of = { customerId, paymentId, provider, currency };
      const before = found ?? newDispute({ ...of, id: newId('dsp') }, reported, now);
      const { after, money } = withReport(before, reported, now);
      if (after.amountWithdrawn < reported.amountWithdrawn) {
        this.database.afterCommit(() => {
          this.logUnposted(after, reported);
        });
      }
      if (after === before) return true;
      if ((found?.version ?? 0) !== knownVersion) return false;
      if (found === null) await this.disputes.insert(after);
      else await this.disputes.update(after);
      await this.recordEvents(found, after, now);
      const totals = await this.disputes.totalsOf(paymentId);
      await this.post(after, money, { ...payment, amountLost: totals.amountLost }, now);
      await this.payments.recordDisputes(payment, totals, now);
      return found === null || after.status === found.status;
    });
  }

  private logUnposted({ id, paymentId }: Dispute, { amountWithdrawn }: ReportedDispute): void {
    this.logger.error(
      { dispute_id: id, payment_id: paymentId, reported_amount: amountWithdrawn.toString() },
      'a further withdrawal of a dispute is not posted',
    );
  }

  private async recordEvents(
    found: Dispute | null,
    after: Dispute,
    occurredAt: Date,
  ): Promise<void> {
    if (found === null) await this.outbox.record(disputeCreated, { after, occurredAt });
    const isClosed = isDecided(after) && (found === null || !isDecided(found));
    if (isClosed) {
      await this.outbox.record(disputeClosed, { after, before: found ?? after, occurredAt });
    } else if (found !== null) {
      await this.outbox.record(disputeUpdated, { after, before: found, occurredAt });
    }
  }

  /** @param payment its `amountLost` already includes the loss from `dispute` */
  private async post(
    dispute: Dispute,
    money: DisputeMoney,
    payment: Payment,
    occurredAt: Date,
  ): Promise<void> {
    const { id: sourceId, customerId, paymentId, provider, currency } = dispute;
    const source = { sourceId, customerId, occurredAt };
    const { withdrawnMinor, reinstatedMinor, recoveredMinor, lostMinor } = money;
    const withdrawn = { currency, provider, amountMinor: withdrawnMinor };
    await this.ledger.post(postDisputeWithdrawn(withdrawn), source);
    if (reinstatedMinor > 0n) {
      const toCreditMinor = await this.returnCredit(payment, recoveredMinor);
      const fromLossesMinor = recoveredMinor - toCreditMinor;
      const parts = { amountMinor: reinstatedMinor, fromLossesMinor, toCreditMinor };
      const payback = { ...source, sourceVersion: dispute.version };
      await this.ledger.post(postDisputeReinstated({ currency, provider, ...parts }), payback);
      // A refund at the provider can have taken the credit before the dispute returned it.
      if (toCreditMinor > 0n) await this.losses.coverLosses([payment], payback);
    }
    if (lostMinor > 0n) {
      const fromCreditMinor = await this.credit.takeLost(paymentId, lostMinor);
      const lost = { currency, amountMinor: lostMinor, fromCreditMinor };
      await this.ledger.post(postDisputeLost(lost), source);
    }
  }

  /**
   * Gives back credit that was taken to cover losses of the payment, after the provider paid back a part of the losses
   * (`recoveredMinor`). Credit that covers the remaining losses stays taken. Returns the amount given back.
   */
  private async returnCredit({ id, amountLost }: Payment, recoveredMinor: bigint): Promise<bigint> {
    const { lost } = await this.credit.lockOf(id);
    const returned = lesser(recoveredMinor, lost - amountLost);
    return returned > 0n ? -(await this.credit.takeLost(id, -returned)) : 0n;
  }
}
