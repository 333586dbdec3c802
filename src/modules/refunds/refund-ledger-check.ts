import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';
import { REFUNDED_ROWS, REFUNDS_RESERVED_ROWS } from '../payments';
import type { RefundStatus } from './domain/refund';

/** Returns SQL for `SummedRows.sql`: refunds with a status, by customer. */
const refundRows = (status: RefundStatus): string => `
  SELECT customer_id AS key, customer_id, currency, amount FROM refund WHERE status = '${status}'`;

/** Registers ledger checks that compare refunds with the refunded and reserved amounts of payments. */
@Injectable()
export class RefundLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
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
