import { bearing } from './keys';
import type { RunningService } from './running-service';
import { until } from './until';

/** Objects that the pages of the console show in the tests. */
export interface ConsoleStory {
  readonly customer: string;
  readonly longName: string;
  readonly plan: string;
  readonly addon: string;
  readonly coupon: string;
  readonly meter: string;
  readonly clock: string;
  readonly subscription: string;
  readonly invoice: string;
  /** Invoice of the first period. */
  readonly firstInvoice: string;
  readonly payment: string;
  readonly endpoint: string;
  readonly delivery: string;
  readonly event: string;
}

const START = '2026-03-01T00:00:00Z';
const EVENT_NAME = 'api_call';
const MAX_NAME_LENGTH = 200;

interface Created {
  readonly id: string;
}

interface Listed {
  readonly data: readonly Created[];
}

/** Sends requests with an API key. Throws if the service refuses one. */
export class ConsoleStoryTeller {
  constructor(
    private readonly service: RunningService,
    private readonly key: string,
  ) {}

  async post(path: string, body: object): Promise<Created> {
    const response = await this.service.post(`/v1/${path}`, body, bearing(this.key));
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Created;
  }

  async change(method: 'PATCH' | 'DELETE', path: string, body?: object): Promise<void> {
    const response = await fetch(`${this.service.url}/v1/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...bearing(this.key) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`${this.service.url}/v1/${path}`, { headers: bearing(this.key) });
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}`);
    return response.json();
  }

  async newest(path: string): Promise<string> {
    const { data } = (await this.get(path)) as Listed;
    const [first] = data;
    if (first === undefined) throw new Error(`GET ${path} is empty.`);
    return first.id;
  }

  async customer(name: string, clock: string): Promise<string> {
    const { id } = await this.post('customers', {
      name,
      email: `${name.slice(0, 5).toLowerCase()}@example.com`,
      test_clock_id: clock,
    });
    await this.post(`customers/${id}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    return id;
  }

  private async catalogue(): Promise<Pick<ConsoleStory, 'plan' | 'addon' | 'coupon' | 'meter'>> {
    const meter = await this.post('meters', {
      key: 'calls',
      name: 'API calls',
      event_name: EVENT_NAME,
      aggregation: 'count',
    });
    const base = { name: 'Base', model: 'flat', timing: 'in_advance' };
    const plan = await this.post('plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'USD',
      interval: 'month',
      prices: [
        { ...base, amount: 2_900 },
        {
          name: 'Calls',
          model: 'graduated',
          timing: 'in_arrears',
          meter_id: meter.id,
          tiers: [
            { up_to: '1', unit_amount: '0' },
            { up_to: null, unit_amount: '1.25' },
          ],
        },
      ],
    });
    await this.post('plans', {
      code: 'scale',
      name: 'Scale',
      currency: 'USD',
      interval: 'month',
      prices: [{ ...base, amount: 9_900 }],
    });
    const addon = await this.post('addons', {
      code: 'seats',
      name: 'Seats',
      currency: 'USD',
      prices: [{ name: 'Seat', model: 'per_unit', timing: 'in_advance', unit_amount: '500' }],
    });
    const coupon = await this.post('coupons', {
      code: 'SPRING',
      type: 'percent',
      percent_off: '10',
      duration: 'once',
    });
    return { plan: plan.id, addon: addon.id, coupon: coupon.id, meter: meter.id };
  }

  /** Advances a test clock, and waits until it has reached the instant. */
  async advance(clock: string, to: string): Promise<void> {
    await this.post(`test-clocks/${clock}/advance`, { to });
    await until('The clock arrives', async () => {
      const { status } = (await this.get(`test-clocks/${clock}`)) as { readonly status: string };
      return status === 'ready';
    });
  }

  /** Waits until the delivery has left the state `pending`. */
  async delivered(delivery: string): Promise<void> {
    await until('The delivery is sent', async () => {
      const path = `webhooks/deliveries/${delivery}`;
      const { status } = (await this.get(path)) as { readonly status: string };
      return status !== 'pending';
    });
  }

  /** Creates a customer with usage, two invoices and their payments. */
  async create(receiverUrl: string): Promise<ConsoleStory> {
    const catalogue = await this.catalogue();
    const endpoint = await this.post('webhooks/endpoints', {
      url: receiverUrl,
      events: ['invoice.paid'],
    });
    const clock = await this.post('test-clocks', { name: 'March', now: START });
    const customer = await this.customer('Grace Hopper', clock.id);
    const longName = await this.customer('W'.repeat(MAX_NAME_LENGTH), clock.id);
    const subscription = await this.post('subscriptions', {
      customer_id: customer,
      plan_id: catalogue.plan,
    });
    for (const key of ['one', 'two', 'three']) {
      await this.post('usage-events', {
        idempotency_key: key,
        customer_id: customer,
        event_name: EVENT_NAME,
        timestamp: START,
      });
    }
    await this.advance(clock.id, '2026-04-02T00:00:00Z');
    const delivery = await this.post(`webhooks/endpoints/${endpoint.id}/test`, {});
    await this.delivered(delivery.id);
    const { data } = (await this.get(`invoices?customer_id=${customer}`)) as Listed;
    return {
      ...catalogue,
      firstInvoice: data.at(-1)?.id ?? '',
      customer,
      longName,
      clock: clock.id,
      subscription: subscription.id,
      endpoint: endpoint.id,
      delivery: delivery.id,
      invoice: await this.newest(`invoices?customer_id=${customer}`),
      payment: await this.newest(`payments?customer_id=${customer}`),
      event: await this.newest(`events?object_id=${customer}`),
    };
  }
}
