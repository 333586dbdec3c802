import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { UnrecordedRefund } from '../payments';
import { WaitingRefundEntity } from './waiting-refund.entity';

const INSERT_IF_NEW = `
  INSERT INTO waiting_refund (payment_id, reference, refund_id, amount, reason, created_at)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (payment_id, reference) DO NOTHING
  RETURNING reference`;

const REMOVE = 'DELETE FROM waiting_refund WHERE payment_id = $1 AND reference = $2';

/** A refund that the provider reported, without its outcome. */
export type ReportedRefund = Omit<UnrecordedRefund, 'outcome'>;

/** Stores waiting refunds ({@link WaitingRefundEntity}). Callers that change rows must have locked the payment. */
@Injectable()
export class WaitingRefundsRepository {
  constructor(private readonly database: Database) {}

  /** Stores a waiting refund. Does nothing and returns false if the refund is waiting already. */
  async insertIfNew(paymentId: string, refund: ReportedRefund, now: Date): Promise<boolean> {
    const { reference, refundId, amount, reason } = refund;
    const parameters = [paymentId, reference, refundId, amount.toString(), reason, now];
    return (await this.database.query(INSERT_IF_NEW, parameters)).length > 0;
  }

  /** Returns the waiting refunds of a payment, oldest first. */
  findOf(paymentId: string): Promise<readonly ReportedRefund[]> {
    return this.database.select(
      WaitingRefundEntity,
      'WHERE payment_id = $1 ORDER BY created_at, reference',
      [paymentId],
    );
  }

  /**
   * Returns the time at which a refund began to wait, by the clock of the process that stored it. Null if it does not
   * wait.
   */
  async waitsSince(paymentId: string, reference: string): Promise<Date | null> {
    const where = 'WHERE payment_id = $1 AND reference = $2';
    const found = await this.database.selectOne(WaitingRefundEntity, where, [paymentId, reference]);
    return found?.createdAt ?? null;
  }

  async remove(paymentId: string, reference: string): Promise<void> {
    await this.database.query(REMOVE, [paymentId, reference]);
  }
}
