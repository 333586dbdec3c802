import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks, POSTED_CASH_ROWS } from '../ledger';
import { DISPUTED_CASH_ROWS, PAID_ROWS, REFUNDED_ROWS, REFUNDS_RESERVED_ROWS } from '../payments';
import type { RefundStatus } from './domain/refund';

/** Returns SQL that selects the refunds with a status, by payment, for a ledger check (`SummedRows.sql`). */
const refundRows = (status: RefundStatus): string => `
  SELECT payment_id AS key, customer_id, currency, amount FROM refund WHERE status = '${status}'`;

/** Selects succeeded refunds as negative amounts, by provider and refund, for a ledger check (`SummedRows.sql`). */
const REFUNDED_CASH_ROWS = `
  SELECT provider || ' ' || refund.id AS key, refund.customer_id, refund.currency, -refund.amount AS amount
  FROM refund JOIN payment ON payment.id = payment_id WHERE refund.status = 'succeeded'`;

/**
 * Registers ledger checks:
 * - For each payment, the succeeded refunds add up to the refunded amount, and the pending refunds to the reserved
 *   amount.
 * - Payments, less refunds and money withdrawn in disputes, equal the cash clearing accounts.
 */
@Injectable()
export class RefundLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerSums({
      name: 'payments_less_refunds_equal_cash_clearing',
      left: { name: 'stored', sql: [PAID_ROWS, REFUNDED_CASH_ROWS, DISPUTED_CASH_ROWS] },
      right: { name: 'ledger', sql: [POSTED_CASH_ROWS] },
    });
    this.checks.registerSums({
      name: 'refunds_equal_payments_refunded',
      left: { name: 'refunds', sql: [refundRows('succeeded')] },
      right: { name: 'payments', sql: [REFUNDED_ROWS] },
    });
    this.checks.registerSums({
      name: 'refunds_under_way_equal_payments_reserved',
      left: { name: 'refunds', sql: [refundRows('pending')] },
      right: { name: 'payments', sql: [REFUNDS_RESERVED_ROWS] },
    });
  }
}
