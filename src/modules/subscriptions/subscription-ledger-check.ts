import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks } from '../ledger';

/**
 * Finds running subscriptions that would never be billed again, because they have no due work. A subscription may lack
 * due work only in these cases: it is paused, it has ended, or it waits for the outcome of its first payment.
 */
const NEVER_BILLED = `
  SELECT id FROM subscription
  WHERE next_billing_at IS NULL AND status IN ('trialing', 'active', 'past_due', 'unpaid')
  ORDER BY id LIMIT $1`;

/**
 * Finds running subscriptions that will not bill each price of their plan version and add-ons once in later periods.
 * Compares the number of prices with the number of items without an end, for the plan and for each add-on. An item
 * counts for the plan if its price belongs to any version of the plan (decision 265).
 */
const BILLED_OTHERWISE = `
  WITH running AS (
    SELECT id, plan_id, plan_version_id, addons FROM subscription
    WHERE status IN ('trialing', 'active', 'past_due', 'unpaid')
  )
  SELECT DISTINCT id FROM (
    SELECT running.id, running.plan_id AS seller_id, 1 AS missing
    FROM running JOIN price USING (plan_version_id)
    UNION ALL
    SELECT running.id, price.addon_id, 1
    FROM running, jsonb_array_elements(running.addons) AS addon
      JOIN price ON price.addon_id = addon ->> 'addonId'
    UNION ALL
    SELECT running.id, coalesce(item.addon_id, version.plan_id), -1
    FROM running
      JOIN subscription_item item ON item.subscription_id = running.id AND item.end_at IS NULL
      LEFT JOIN price ON price.id = item.price ->> 'priceId'
      LEFT JOIN plan_version version ON version.id = price.plan_version_id
  ) AS counted
  GROUP BY id, seller_id HAVING sum(missing) <> 0
  ORDER BY id LIMIT $1`;

@Injectable()
export class SubscriptionLedgerCheck implements OnModuleInit {
  constructor(private readonly checks: LedgerChecks) {}

  onModuleInit(): void {
    this.checks.registerQuery({ name: 'running_subscriptions_have_due_work', sql: NEVER_BILLED });
    this.checks.registerQuery({
      name: 'running_subscriptions_bill_their_prices',
      sql: BILLED_OTHERWISE,
    });
  }
}
