import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  CREDIT_BALANCE_ROWS,
  CREDIT_OF_PAYMENTS_ROWS,
  INVOICES_PAID_ROWS,
  INVOICES_RESERVED_ROWS,
  LOST_CREDIT_ROWS,
  CREDIT_NOTE_REFUND_ROWS,
  REFUNDED_CREDIT_ROWS,
} from '../invoicing';
import { LedgerChecks, postedRows, postedRowsBySource } from '../ledger';
import {
  APPLIED_ROWS,
  DISPUTED_ROWS,
  IN_FLIGHT_ROWS,
  LOST_BY_CUSTOMER_ROWS,
  LOST_ROWS,
  NOT_APPLIED_ROWS,
  PAYMENTS_LOST_ROWS,
  REFUNDED_BY_CUSTOMER_ROWS,
} from './summed-rows';

/**
 * Registers checks that sums over payments, refunds, disputes and credit equal the sums in the ledger or on invoices.
 */
@Injectable()
export class PaymentLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerSums({
      name: 'payments_applied_equal_invoices_paid',
      left: { name: 'payments', sql: [APPLIED_ROWS] },
      right: { name: 'invoices', sql: [INVOICES_PAID_ROWS] },
    });
    this.checks.registerSums({
      name: 'payments_under_way_equal_invoices_reserved',
      left: { name: 'payments', sql: [IN_FLIGHT_ROWS] },
      right: { name: 'invoices', sql: [INVOICES_RESERVED_ROWS] },
    });
    this.checks.registerSums({
      name: 'credit_balances_equal_customer_credit',
      left: { name: 'balances', sql: [CREDIT_BALANCE_ROWS] },
      right: { name: 'ledger', sql: [postedRows('customer_credit', -1)] },
    });
    this.checks.registerSums({
      name: 'payments_not_applied_equal_their_credits',
      left: { name: 'payments', sql: [NOT_APPLIED_ROWS] },
      right: { name: 'credits', sql: [CREDIT_OF_PAYMENTS_ROWS] },
    });
    this.checks.registerSums({
      name: 'refunds_less_credit_notes_equal_refunds',
      left: {
        name: 'stored',
        sql: [REFUNDED_BY_CUSTOMER_ROWS, REFUNDED_CREDIT_ROWS, CREDIT_NOTE_REFUND_ROWS],
      },
      right: { name: 'ledger', sql: [postedRows('refunds')] },
    });
    this.checks.registerSums({
      name: 'open_disputes_equal_disputed',
      left: { name: 'disputes', sql: [DISPUTED_ROWS] },
      right: { name: 'ledger', sql: [postedRowsBySource('disputed')] },
    });
    this.checks.registerSums({
      name: 'lost_disputes_equal_payments_lost',
      left: { name: 'disputes', sql: [LOST_ROWS] },
      right: { name: 'payments', sql: [PAYMENTS_LOST_ROWS] },
    });
    this.checks.registerSums({
      name: 'lost_disputes_less_credit_equal_dispute_losses',
      left: { name: 'stored', sql: [LOST_BY_CUSTOMER_ROWS, LOST_CREDIT_ROWS] },
      right: { name: 'ledger', sql: [postedRows('dispute_losses')] },
    });
  }
}
