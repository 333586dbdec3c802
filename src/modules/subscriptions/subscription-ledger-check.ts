import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';

/**
 * Finds running subscriptions that would never be billed again, because they have no due work. A subscription may lack
 * due work only while it is paused, after it has ended, or while it waits for the outcome of its first payment.
 */
const NEVER_BILLED = `
  SELECT id FROM subscription
  WHERE next_billing_at IS NULL AND status IN ('trialing', 'active', 'past_due', 'unpaid')
  ORDER BY id LIMIT $1`;

@Injectable()
export class SubscriptionLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerQuery({ name: 'running_subscriptions_have_due_work', sql: NEVER_BILLED });
  }
}
