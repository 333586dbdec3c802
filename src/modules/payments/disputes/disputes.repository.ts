import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';
import type { Dispute, DisputeFilter } from './domain/dispute';
import { DisputeEntity } from './dispute.entity';

const TOTALS = `
  SELECT coalesce(bool_or(status IN ('inquiry', 'open') AND NOT is_refundable), false) AS is_disputed,
    coalesce(sum(amount_lost), 0)::text AS amount_lost
  FROM dispute WHERE payment_id = $1`;

export interface DisputeTotals {
  /** True if at least one undecided dispute forbids refunds of the payment. */
  readonly isDisputed: boolean;
  readonly amountLost: bigint;
}

@Injectable()
export class DisputesRepository {
  constructor(private readonly database: Database) {}

  find(id: string): Promise<Dispute | null> {
    return this.database.selectOne(DisputeEntity, 'WHERE id = $1', [id]);
  }

  /** @param reference the provider's id of the dispute */
  findByReference(provider: ProviderName, reference: string): Promise<Dispute | null> {
    return this.database.selectOne(
      DisputeEntity,
      'WHERE provider = $1 AND provider_reference = $2',
      [provider, reference],
    );
  }

  async insert(dispute: Dispute): Promise<void> {
    await this.database.insert(DisputeEntity, dispute);
  }

  /** Writes the fields that a report of the provider can change. */
  async update(dispute: Dispute): Promise<void> {
    await this.database.updateRevised(DisputeEntity, dispute, [
      'status',
      'reason',
      'amount',
      'amountWithdrawn',
      'amountReinstated',
      'amountLost',
      'isRefundable',
      'evidenceDueAt',
    ]);
  }

  async totalsOf(paymentId: string): Promise<DisputeTotals> {
    const [row] = await this.database.query<{ is_disputed: boolean; amount_lost: string }>(TOTALS, [
      paymentId,
    ]);
    return { isDisputed: row?.is_disputed ?? false, amountLost: BigInt(row?.amount_lost ?? 0) };
  }

  page(filter: DisputeFilter, request: PageRequest): Promise<Page<Dispute>> {
    return new ListQuery('dispute')
      .where('customer_id = $', filter.customerId)
      .where('payment_id = $', filter.paymentId)
      .where('status = $', filter.status)
      .page(this.database, DisputeEntity, request);
  }
}
