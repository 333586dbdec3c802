import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { untilSessionsWait } from '../support/lock-waits';
import { RunningService } from '../support/running-service';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { until } from '../support/until';

const SECRET = 'whsec_of_kills';

/** The step of the service at which it is killed, with its reports of a dispute in work. */
type Step = 'while Stripe answers' | 'before its commit' | 'after its commit';

interface Dispute {
  readonly id: string;
  readonly status: string;
}

describe('a report of a dispute whose process is killed', () => {
  let database: TestDatabase;
  let monitor: Client;
  let holder: Client;
  let stripe: StripeDouble;
  let service: RunningService;

  async function start(): Promise<void> {
    service = await RunningService.start(database.url, {
      PAYMENT_PROVIDERS: 'stripe',
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_API_URL: stripe.url,
      STRIPE_WEBHOOK_SECRETS: SECRET,
    });
    stripe.webhooks.register(`${service.url}/v1/providers/stripe/webhooks`, SECRET);
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    monitor = new Client({ connectionString: database.url });
    holder = new Client({ connectionString: database.url });
    await Promise.all([monitor.connect(), holder.connect()]);
    stripe = await startStripeDouble();
    await start();
  });

  afterAll(async () => {
    await service.kill();
    stripe.faults.release();
    await stripe.close();
    await Promise.all([monitor.end(), holder.end()]);
    await database.drop();
  });

  async function post(path: string, body: object): Promise<string> {
    const answer = await service.post(path, body);
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  }

  const read = async <Body>(path: string): Promise<Body> =>
    (await (await service.get(path)).json()) as Body;

  /** Returns how many notifications of disputes are stored and not applied yet. */
  async function countDue(): Promise<number> {
    const { rowCount } = await monitor.query(
      `SELECT FROM provider_event WHERE due_at IS NOT NULL AND type LIKE 'charge.dispute.%'`,
    );
    return rowCount ?? 0;
  }

  const sessions = { query: async (sql: string) => (await monitor.query(sql)).rows as unknown[] };

  /** Changes something at Stripe, and kills the service at a step of its work on the notifications. Starts it again. */
  async function killAt(step: Step, payment: string, change: () => void): Promise<void> {
    stripe.faults.plan('answer_held', { operation: 'disputes.retrieve', times: 10 });
    change();
    await stripe.webhooks.idle();
    const reports = await countDue();
    expect(reports).toBeGreaterThan(0);
    await until('Stripe holds its answers', () => stripe.faults.hanging === reports);
    if (step !== 'while Stripe answers') {
      await holder.query('BEGIN');
      await holder.query(
        step === 'before its commit'
          ? `SELECT FROM payment WHERE id = '${payment}' FOR UPDATE`
          : 'SELECT FROM provider_event FOR UPDATE',
      );
      stripe.faults.release();
      await untilSessionsWait(sessions, reports);
    }
    await service.kill();
    stripe.faults.clear();
    stripe.faults.release();
    // A statement that waits for a lock would still run, as its session learns of the death of its client only later.
    await monitor.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    await holder.query('ROLLBACK');
    expect(await countDue()).toBe(reports);
    await start();
    await until('the reports are applied', async () => (await countDue()) === 0);
  }

  it.each([
    ['while Stripe answers', 'won'],
    ['before its commit', 'lost'],
    ['after its commit', 'won'],
  ] as const)(
    '%s is applied once by the next process, when it is opened and %s',
    async (step, result) => {
      const customer = await post('/v1/customers', { name: 'Ada' });
      const method = { provider: 'stripe', token: 'pm_card_visa' };
      await post(`/v1/customers/${customer}/payment-methods`, method);
      const order = { customer_id: customer, amount: 1_000, currency: 'USD' };
      const payment = await post('/v1/payments', order);
      const intent = [...stripe.account.paymentIntents.values()].find(
        ({ metadata }) => metadata['payment_id'] === payment,
      );
      let reference = '';
      await killAt(step, payment, () => {
        reference = stripe.openDispute(intent?.id ?? '').id;
      });
      expect(await read(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
      await killAt(step, payment, () => stripe.closeDispute(reference, result));

      const { data } = await read<{ data: Dispute[] }>(`/v1/disputes?payment_id=${payment}`);
      expect(data).toMatchObject([{ status: result, amount_withdrawn: 1_000 }]);
      const id = data[0]?.id ?? '';
      const posted = await read<{ data: { kind: string }[] }>(
        `/v1/ledger/transactions?source_id=${id}`,
      );
      const kind = result === 'won' ? 'dispute_reinstated' : 'dispute_lost';
      expect(posted.data.map((one) => one.kind)).toEqual([kind, 'dispute_withdrawn']);
      expect(await read(`/v1/payments/${payment}`)).toMatchObject({
        status: 'succeeded',
        is_disputed: false,
        amount_lost: result === 'won' ? 0 : 1_000,
      });
      expect(await read(`/v1/customers/${customer}/balance`)).toMatchObject({
        balance: result === 'won' ? 1_000 : 0,
      });
      expect(await read('/v1/ledger/verify')).toMatchObject({ ok: true });
    },
  );
});
