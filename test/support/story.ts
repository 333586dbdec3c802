import { post } from './requests';
import { startTestApp, type TestApp } from './test-app';

/** A line of an invoice as the API shows it. */
export interface Line {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly amount: number;
  readonly discount: number;
  readonly tax: number;
  readonly quantity: string | null;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly proration: { readonly numerator: number; readonly denominator: number } | null;
}

export interface Invoice {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
  readonly reason: string;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly subtotal: number;
  readonly discount: number;
  readonly tax: number;
  readonly total: number;
  readonly credit_applied: number;
  readonly credited_to_balance: number;
  readonly amount_due: number;
  readonly amount_remaining: number;
  readonly finalized_at: string | null;
  readonly overdue_at: string | null;
  readonly lines: readonly Line[];
}

export interface Subscription {
  readonly id: string;
  readonly status: string;
  readonly quantity: string;
  readonly plan_id: string;
  readonly plan_version_id: string;
  readonly current_period_start: string | null;
  readonly current_period_end: string | null;
  readonly cancel_at: string | null;
  readonly next_billing_at: string | null;
}

export interface UsageSoFar {
  readonly invoice_id: string | null;
  readonly price_id: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly is_late: boolean;
  readonly groups: readonly {
    readonly group: readonly (string | null)[] | null;
    readonly quantity: string;
    readonly events: number;
    readonly amount: number;
  }[];
  readonly amount: number;
}

let made = 0;

/** A customer on a test clock, used only through the API. */
export class Story {
  private constructor(
    readonly engine: TestApp,
    readonly clockId: string,
    readonly customerId: string,
  ) {}

  static async begin(
    engine: TestApp,
    now: string,
    customer: Readonly<Record<string, unknown>> = {},
  ): Promise<Story> {
    const clock = await post(engine, '/v1/test-clocks', { name: 'A story', now });
    const { id } = await post(engine, '/v1/customers', {
      name: 'Ada Lovelace',
      test_clock_id: clock.id,
      ...customer,
    });
    return new Story(engine, clock.id, id);
  }

  /** Creates a flat monthly plan in USD, unless the fields say otherwise; returns its id. */
  async plan(amount: number, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }];
    return (await this.planOf(prices, fields)).id;
  }

  /** Creates a plan that bills seats in advance; returns its id. */
  async seats(unitAmount: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const price = {
      name: 'Seats',
      model: 'per_unit',
      timing: 'in_advance',
      unit_amount: unitAmount,
    };
    return (await this.planOf([price], fields)).id;
  }

  planOf(
    prices: readonly object[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<{ id: string }> {
    made += 1;
    return post(this.engine, '/v1/plans', {
      code: `plan-${made}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices,
      ...fields,
    });
  }

  /** Creates a meter for a new event name. Returns the id of the meter and the event name. */
  async meter(
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<{ readonly id: string; readonly event: string }> {
    made += 1;
    const event = `event_${made}`;
    const meter = { key: `meter_${made}`, event_name: event, aggregation: 'sum' };
    const value = fields['aggregation'] === 'count' ? {} : { value_property: 'n' };
    const { id } = await post(this.engine, '/v1/meters', { ...meter, ...value, ...fields });
    return { id, event };
  }

  /** Reports one event, which must be accepted. Returns the idempotency key of the event. */
  async reportUsage(
    event: string,
    timestamp: string,
    properties: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    made += 1;
    const key = `use-${made}`;
    const answer = await this.engine.http.post('/v1/usage-events').send({
      idempotency_key: key,
      customer_id: this.customerId,
      event_name: event,
      timestamp,
      properties,
    });
    expect(answer.body).toEqual({ accepted: 1, duplicates: 0, rejected: [] });
    return key;
  }

  /** Returns the usage of the current period. */
  async usage(): Promise<readonly UsageSoFar[]> {
    const { body } = await this.engine.http.get(`/v1/customers/${this.customerId}/usage`);
    return (body as { data: readonly UsageSoFar[] }).data;
  }

  /** Returns the lines of each invoice, oldest first: type, quantity, amount. */
  async lines(): Promise<readonly (readonly (readonly [string, string | null, number])[])[]> {
    return (await this.invoices()).map(({ lines }) =>
      lines.map(({ type, quantity, amount }) => [type, quantity, amount] as const),
    );
  }

  async subscribe(
    planId: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<Subscription> {
    return (await post(this.engine, '/v1/subscriptions', {
      customer_id: this.customerId,
      plan_id: planId,
      ...fields,
    })) as unknown as Subscription;
  }

  /** Sends a command to a subscription, which must accept it. */
  async command(subscriptionId: string, command: string, body: object = {}): Promise<Subscription> {
    return post(this.engine, `/v1/subscriptions/${subscriptionId}/${command}`, body);
  }

  async subscription(id: string): Promise<Subscription> {
    return (await this.engine.http.get(`/v1/subscriptions/${id}`)).body as Subscription;
  }

  async advance(to: string): Promise<void> {
    await post(this.engine, `/v1/test-clocks/${this.clockId}/advance`, { to });
  }

  /** Returns all invoices of the customer, oldest first. */
  async invoices(): Promise<readonly Invoice[]> {
    const path = `/v1/invoices?limit=100&customer_id=${this.customerId}`;
    const { body } = await this.engine.http.get(path);
    return [...(body as { data: readonly Invoice[] }).data].reverse();
  }

  /** Returns the amounts of the lines of each invoice, oldest first. */
  async amounts(): Promise<readonly (readonly number[])[]> {
    return (await this.invoices()).map(({ lines }) => lines.map(({ amount }) => amount));
  }

  /** Returns the starts of the periods of the invoices, oldest first. */
  async starts(): Promise<readonly (string | null)[]> {
    return (await this.invoices()).map(({ period_start }) => period_start);
  }

  /** Asserts what must hold at the end of a test: the sums of the invoices of the customer, and all checks of the ledger. */
  async verify(): Promise<void> {
    await this.verifyInvoices();
    await verifyWholeLedger(this.engine);
  }

  /** Asserts that the lines of each invoice add up, and that the traces of its lines explain its amounts. */
  async verifyInvoices(): Promise<void> {
    for (const invoice of await this.invoices()) {
      const sum = (of: (line: Line) => number): number =>
        invoice.lines.reduce((total, line) => total + of(line), 0);
      expect(sum(({ amount }) => amount)).toBe(invoice.subtotal);
      expect(sum(({ discount }) => discount)).toBe(invoice.discount);
      expect(invoice.subtotal - invoice.discount + invoice.tax).toBe(invoice.total);
      const path = `/v1/invoices/${invoice.id}/explanation?limit=100`;
      const { body } = await this.engine.http.get(path);
      const lines = invoice.lines.slice(0, 100).map(({ id }) => ({ matches: true, line: { id } }));
      expect(body).toMatchObject({ matches: true, data: lines });
    }
  }
}

/**
 * Asserts that the checks of the whole ledger pass. They are slow with many customers, so tests with many stories call
 * this once.
 */
export async function verifyWholeLedger(engine: TestApp): Promise<void> {
  const { body } = await engine.http.get('/v1/ledger/verify');
  const failed = (body as { checks: { ok: boolean }[] }).checks.filter(({ ok }) => !ok);
  expect(failed).toEqual([]);
  expect((body as { ok: boolean }).ok).toBe(true);
}

export { post, startTestApp, type TestApp };
