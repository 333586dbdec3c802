import { Injectable } from '@nestjs/common';
import { postDisputeLost, postDisputeReinstated, postDisputeWithdrawn } from '../../../core/ledger';
import { Database, type Page, type PageRequest } from '../../../platform/database';
import { raise } from '../../../platform/errors';
import { newId } from '../../../platform/ids';
import { Outbox } from '../../../platform/outbox';
import { CreditBalanceService } from '../../invoicing';
import { LedgerService } from '../../ledger';
import type { ReportedDispute } from '../domain/reported-dispute';
import { PaymentRecordsService } from '../payment-records.service';
import {
  type Dispute,
  type DisputeFilter,
  type DisputeMoney,
  isDecided,
  isOutdated,
  newDispute,
  withReport,
} from './domain/dispute';
import { disputeNotFound } from './disputes.errors';
import { disputeClosed, disputeCreated, disputeUpdated } from './disputes.events';
import { DisputesRepository } from './disputes.repository';

/** Records the disputes that providers report, with the money that they move. */
@Injectable()
export class DisputesService {
  constructor(
    private readonly database: Database,
    private readonly disputes: DisputesRepository,
    private readonly payments: PaymentRecordsService,
    private readonly credit: CreditBalanceService,
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
   * Records a dispute as its provider reports it: the dispute, its event, its postings, and the refundable amount of the
   * payment. A repeated or outdated report changes nothing.
   */
  record(paymentId: string, reported: ReportedDispute): Promise<void> {
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const { customerId, provider, currency } = payment;
      const now = await this.payments.timeOf(customerId);
      const found = await this.disputes.findByReference(provider, reported.providerReference);
      const of = { customerId, paymentId, provider, currency };
      if (found !== null && isOutdated(reported, found)) return;
      const before = found ?? newDispute({ ...of, id: newId('dsp') }, reported, now);
      const { after, money } = withReport(before, reported, now);
      if (after === before) return;
      if (found === null) await this.disputes.insert(after);
      else await this.disputes.update(after);
      await this.recordEvents(found, after);
      await this.post(after, money);
      await this.payments.recordDisputes(payment, await this.disputes.totalsOf(paymentId), now);
    });
  }

  private async recordEvents(found: Dispute | null, after: Dispute): Promise<void> {
    const occurredAt = after.updatedAt;
    if (found === null) await this.outbox.record(disputeCreated, { after, occurredAt });
    const isClosed = isDecided(after) && (found === null || !isDecided(found));
    if (isClosed) {
      await this.outbox.record(disputeClosed, { after, before: found ?? after, occurredAt });
    } else if (found !== null) {
      await this.outbox.record(disputeUpdated, { after, before: found, occurredAt });
    }
  }

  private async post(dispute: Dispute, money: DisputeMoney): Promise<void> {
    const { id: sourceId, customerId, paymentId, provider, currency, updatedAt } = dispute;
    const source = { sourceId, customerId, occurredAt: updatedAt };
    const { withdrawnMinor, reinstatedMinor, recoveredMinor, lostMinor } = money;
    const withdrawn = { currency, provider, amountMinor: withdrawnMinor };
    await this.ledger.post(postDisputeWithdrawn(withdrawn), source);
    if (reinstatedMinor > 0n) {
      const toCreditMinor = -(await this.credit.takeLost(paymentId, -recoveredMinor));
      const fromLossesMinor = recoveredMinor - toCreditMinor;
      const parts = { amountMinor: reinstatedMinor, fromLossesMinor, toCreditMinor };
      await this.ledger.post(postDisputeReinstated({ currency, provider, ...parts }), source);
    }
    if (lostMinor > 0n) {
      const fromCreditMinor = await this.credit.takeLost(paymentId, lostMinor);
      const lost = { currency, amountMinor: lostMinor, fromCreditMinor };
      await this.ledger.post(postDisputeLost(lost), source);
    }
  }
}
