import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { post } from './service';
import { reportCalls } from './usage';

/** A load by one customer that must not slow the requests of others. */
export interface IsolationLoad {
  readonly name: string;
  /** Starts the load, and returns when it is running. */
  start(): Promise<RunningLoad>;
}

export interface RunningLoad {
  /** Stops the load, waits for its unfinished work, and returns one line that says how much work was done. */
  stop(): Promise<string>;
}

export interface LoadTarget {
  readonly url: string;
  readonly client: Client;
}

interface Created {
  readonly id: string;
}

const DAY_MS = 86_400_000;
const LOOK_AGAIN_MS = 200;
const DRAINED_WITHIN_MS = 300_000;

const SUBSCRIPTIONS_AT_ONCE = 8;
const VERIFICATIONS_AT_ONCE = 30;
const LEDGER_CUSTOMERS = 20_000;
const LEDGER_TRANSACTIONS = Number(process.env['ISOLATION_TRANSACTIONS'] ?? 200_000);
const PENDING_OBJECTS = 30_000;
const USAGE_EVENTS = Number(process.env['ISOLATION_EVENTS'] ?? 300_000);

/** Repeats the steps of a load until it is stopped. */
function repeat(count: number, step: () => Promise<void>): { stop(): Promise<void> } {
  let isStopped = false;
  const loops = Promise.all(
    Array.from({ length: count }, async () => {
      while (!isStopped) await step();
    }),
  );
  // `stop()` throws the failure. Without this line, the failure would be an unhandled rejection until then.
  loops.catch(() => undefined);
  return {
    stop: async () => {
      isStopped = true;
      await loops;
    },
  };
}

async function countOf(client: Client, query: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(query);
  return rows[0]?.n ?? 0;
}

async function untilNone(client: Client, query: string): Promise<void> {
  const givesUpAt = performance.now() + DRAINED_WITHIN_MS;
  while ((await countOf(client, query)) > 0) {
    if (performance.now() > givesUpAt) throw new Error(`Still not 0 after 5 minutes: ${query}`);
    await pause(LOOK_AGAIN_MS);
  }
}

const DUE_SUBSCRIPTIONS =
  'SELECT count(*)::int AS n FROM subscription WHERE next_billing_at <= now()';

/**
 * Keeps a number of subscriptions due. They have a daily plan and started a year ago, so that many periods must be
 * billed. Creates a new one whenever one of them has been billed up to now.
 */
export async function backDatedSubscriptions({ url, client }: LoadTarget): Promise<IsolationLoad> {
  const plan = await post<Created>(`${url}/v1/plans`, {
    code: 'daily',
    name: 'Daily',
    currency: 'EUR',
    interval: 'day',
    prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 100 }],
  });
  const subscribe = async (): Promise<void> => {
    const customer = await post<Created>(`${url}/v1/customers`, { name: 'Grace Hopper' });
    await post(`${url}/v1/subscriptions`, {
      customer_id: customer.id,
      plan_id: plan.id,
      start_at: new Date(Date.now() - 365 * DAY_MS).toISOString(),
    });
  };
  // Compiles code and prepares statements before the measurement.
  await subscribe();
  await untilNone(client, DUE_SUBSCRIPTIONS);
  const invoices = (): Promise<number> => countOf(client, 'SELECT count(*)::int AS n FROM invoice');
  return {
    name: 'back-dated subscriptions',
    start: async () => {
      const before = await invoices();
      const loop = repeat(1, async () => {
        const missing = SUBSCRIPTIONS_AT_ONCE - (await countOf(client, DUE_SUBSCRIPTIONS));
        await Promise.all(Array.from({ length: Math.max(0, missing) }, subscribe));
        await pause(LOOK_AGAIN_MS);
      });
      return {
        stop: async () => {
          await loop.stop();
          const during = (await invoices()) - before;
          await untilNone(client, DUE_SUBSCRIPTIONS);
          return `${during} invoices`;
        },
      };
    },
  };
}

/**
 * Ledger transactions of invoices that do not exist. Each invoice is posted as finalized and as void, so its postings
 * add up to 0 and the ledger still agrees with the stored invoices.
 */
const LEDGER_ROWS = [
  `INSERT INTO customer (id, name, timezone, tax_exempt, metadata, version, created_at, updated_at)
   SELECT 'cus_' || lpad(place::text, 26, '0'), 'Many', 'UTC', 'none', '{}', 1, now(), now()
   FROM generate_series(1, ${LEDGER_CUSTOMERS}) AS place`,
  `INSERT INTO ledger_transaction (id, kind, source_id, customer_id, currency, occurred_at)
   SELECT 'ltx_' || lpad((2 * place + kind.later)::text, 26, '0'), kind.name,
     'inv_' || lpad(place::text, 26, '0'),
     'cus_' || lpad((1 + place % ${LEDGER_CUSTOMERS})::text, 26, '0'), 'EUR', now()
   FROM generate_series(1, ${Math.floor(LEDGER_TRANSACTIONS / 2)}) AS place
   CROSS JOIN (VALUES ('invoice_finalized', 0), ('void', 1)) AS kind (name, later)`,
  `INSERT INTO ledger_posting (transaction_id, position, account, amount_minor)
   SELECT id, position, account, CASE kind WHEN 'void' THEN -amount ELSE amount END
   FROM ledger_transaction
   CROSS JOIN (VALUES (1, 'accounts_receivable', 7), (2, 'revenue', -7)) AS side (position, account, amount)
   WHERE source_id LIKE 'inv_0000000000%'`,
  'ANALYZE',
] as const;

/** Verifies a large ledger repeatedly. After a refusal, waits for the time in `Retry-After`. */
export async function ledgerVerifications({ url, client }: LoadTarget): Promise<IsolationLoad> {
  await client.query('BEGIN');
  for (const statement of LEDGER_ROWS) await client.query(statement);
  await client.query('COMMIT');
  return {
    name: 'ledger verifications',
    start: () => {
      let answered = 0;
      let refused = 0;
      const loop = repeat(VERIFICATIONS_AT_ONCE, async () => {
        const answer = await fetch(`${url}/v1/ledger/verify`);
        await answer.arrayBuffer();
        if (answer.status === 429) {
          refused += 1;
          await pause(1_000 * Number(answer.headers.get('retry-after') ?? 1));
        } else if (answer.ok) answered += 1;
        else throw new Error(`A verification was answered ${answer.status}.`);
      });
      const stop = async (): Promise<string> => {
        const during = `${answered} answered, ${refused} refused with 429`;
        await loop.stop();
        return during;
      };
      return Promise.resolve({ stop });
    },
  };
}

const UNDISPATCHED = 'SELECT count(*)::int AS n FROM event_dispatch';
const SUCCEEDED = `SELECT count(*)::int AS n FROM webhook_delivery WHERE status = 'succeeded'`;

/** Inserts events of new objects, one event for each object. */
const RECORD_EVENTS = `
  WITH recorded AS (
    INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
    SELECT 'evt_' || suffix, 'coupon.updated', 'coup_' || suffix, 1,
      json_build_object('object', json_build_object('id', 'coup_' || suffix), 'previous', '{}'::json), now()
    FROM generate_series(1, $2::integer) AS object,
      LATERAL (SELECT $1::text || lpad(object::text, 18, '0') AS suffix) AS named
    RETURNING id, type, object_id, sequence, occurred_at)
  INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at) SELECT * FROM recorded`;

/** Fills the queue of an ordered endpoint with events of many objects. The receiver of the events answers slowly. */
export function orderedQueue({ url, client }: LoadTarget, receiverUrl: string): IsolationLoad {
  return {
    name: 'ordered webhook queue',
    start: async () => {
      const endpoint = await post<Created>(`${url}/v1/webhooks/endpoints`, {
        url: receiverUrl,
        events: ['coupon.*'],
      });
      const path = `${url}/v1/webhooks/endpoints/${endpoint.id}`;
      const ordered = await fetch(path, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: '{"ordered":true}',
      });
      if (!ordered.ok) throw new Error(`PATCH ${path} answered ${ordered.status}.`);
      const prefix = Date.now().toString(36).padStart(8, '0');
      await client.query(RECORD_EVENTS, [prefix, PENDING_OBJECTS]);
      await untilNone(client, UNDISPATCHED);
      const before = await countOf(client, SUCCEEDED);
      return {
        stop: async () => {
          const deliveries = (await countOf(client, SUCCEEDED)) - before;
          const deleted = await fetch(path, { method: 'DELETE' });
          if (!deleted.ok) throw new Error(`DELETE ${path} answered ${deleted.status}.`);
          return `${deliveries} of ${PENDING_OBJECTS} objects delivered`;
        },
      };
    },
  };
}

/** Waits until a meter has counted all stored events and is active. Does not wait if the meter has no status. */
async function untilActive(url: string, id: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/meters/${id}`);
    const { status } = (await answer.json()) as { readonly status?: string };
    if (status === undefined || status === 'active') return;
    await pause(LOOK_AGAIN_MS);
  }
}

/** Creates meters over stored events, one after the other. Archives each meter after it has counted the events. */
export async function meterCreations({ url }: LoadTarget): Promise<IsolationLoad> {
  const { id } = await post<Created>(`${url}/v1/customers`, { name: 'Alan Turing' });
  await reportCalls(url, id, Date.now() - DAY_MS, USAGE_EVENTS);
  let serial = 0;
  return {
    name: 'meters over stored events',
    start: () => {
      let counted = 0;
      const loop = repeat(1, async () => {
        serial += 1;
        const meter = await post<Created>(`${url}/v1/meters`, {
          key: `calls_${serial}`,
          name: 'Calls',
          event_name: 'call',
          aggregation: 'sum',
          value_property: 'amount',
        });
        await untilActive(url, meter.id);
        counted += 1;
        const archived = await fetch(`${url}/v1/meters/${meter.id}`, { method: 'DELETE' });
        if (!archived.ok) throw new Error(`A meter could not be archived: ${archived.status}`);
      });
      const stop = async (): Promise<string> => {
        await loop.stop();
        return `${counted} meters over ${USAGE_EVENTS} events`;
      };
      return Promise.resolve({ stop });
    },
  };
}
