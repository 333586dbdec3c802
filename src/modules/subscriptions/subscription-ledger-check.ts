import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';

/**
 * Finds running subscriptions that are never billed again, because they have no due work. Only a subscription that is
 * paused, has ended, or waits for the outcome of its first payment may have no due work.
 */
const NEVER_BILLED = `
  SELECT id FROM subscription
  WHERE next_billing_at IS NULL AND status IN ('trialing', 'active', 'past_due', 'unpaid')
  ORDER BY id LIMIT $1`;

/** Registers the ledger check of the due work of subscriptions. */
@Injectable()
export class SubscriptionLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerQuery({ name: 'running_subscriptions_have_due_work', sql: NEVER_BILLED });
  }
}
