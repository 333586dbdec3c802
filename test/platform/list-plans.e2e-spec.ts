import { Client } from 'pg';
import { STORY } from '../../src/openapi/story';
import { EventRetention } from '../../src/platform/outbox/event-retention';
import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/billing';
import { bodiesOf, MadeIds, type Operation, OPERATIONS, pathOf } from '../support/example-requests';
import { type ListStatement, plantMillions, plansOf } from '../support/planted-statistics';
import { startTestApp, type TestApp } from '../support/test-app';

/** Parts of plans that read more rows than they return, with the reason why a list may have them. */
const ALLOWED: readonly { readonly fault: RegExp; readonly reason: string }[] = [
  {
    fault: /ledger_posting_pkey and leaves out \(\(account\)/,
    reason: 'Reads the postings of one transaction.',
  },
  {
    fault: /^listCustomerEntitlements\?.* reads (subscription|entitlement_grant)_customer_index/,
    reason: 'Reads the subscriptions and grants of one customer.',
  },
  {
    fault: /^(listCustomers|search)\?q=[^:]*: sorts/,
    reason: 'Sorts the customers whose text matches, which the index of trigrams finds.',
  },
  {
    fault:
      /^consume: reads (entitlement_key_unique|usage_stream_pkey|customer_entitlement_pair_unique|customer_entitlement_pkey|usage_window_pkey) and leaves out/,
    reason: 'Reads the stream, the windows and the balances of one customer by their keys.',
  },
  {
    fault: /^retention: reads webhook_delivery_event_index and leaves out/,
    reason: 'Reads the deliveries of one event.',
  },
  {
    fault: /^deletion: reads all of usage_event_\d+$/,
    reason: 'Partitions are empty here.',
  },
  {
    fault: /^deletion: reads all of event_dispatch$/,
    reason: 'The queue has only the events whose deliveries are not created yet.',
  },
  {
    fault: /^listAuditEntries\?.* audit_(log|change)_(default|2026_0[45])/,
    reason: 'Partitions of coming months, and of months without one, are empty.',
  },
  {
    fault: /^listEvents\?(customer_id|test_clock_id)=\w+&(from|to)=[^:]*:[^:]*:[^:]*: sorts/,
    reason: 'Sorts the events of one customer by time, after it has read them from their index.',
  },
  {
    fault: /^listUsageEvents\?.* usage_event_\d+/,
    reason:
      'Partitions are empty here. The list reads the index of one stream from the place of its cursor.',
  },
];

/** Lists of parents that the story of the examples does not make. */
const WITHOUT_PARENT: readonly string[] = ['listLineEvents', 'listReconciliationDifferences'];

const LISTS = OPERATIONS.filter(
  ({ method, operation }) =>
    method === 'get' &&
    !WITHOUT_PARENT.includes(operation.operationId) &&
    operation.parameters?.some(({ name }) => name === 'cursor'),
);

/** Parameters of every list, and those that a list requires. */
const PAGING = ['limit', 'cursor'];

/** Texts to search for: of other scripts, and of letters beyond ASCII alone, which indexes of trigrams may leave out. */
const TEXTS = ['any', 'Жукова', '東京', 'öäü'];

/** Filters that are used together with a time, and would each have an index of their own. */
const BY_TIME: Readonly<Record<string, readonly string[]>> = {
  listEvents: ['customer_id', 'test_clock_id'].flatMap((name) =>
    ['from', 'to'].map(
      (time) => `${name}=none_01h455vb4pex5vsknk084sn02q&${time}=2026-03-01T00:00:00.000Z`,
    ),
  ),
};

/** Returns the queries that try a list: without a filter, with each filter, and with each value of an enumeration. */
function queriesOf({ operation }: Operation): readonly string[] {
  const { operationId } = operation;
  const filters = (operation.parameters ?? []).filter(
    (one) => one.in === 'query' && !PAGING.includes(one.name),
  );
  const required = filters
    .filter(({ required: isRequired }) => isRequired)
    .map((one) => `${one.name}=${encodeURIComponent(valuesOf(one)[0] ?? '')}`);
  const each = filters.flatMap((one) =>
    valuesOf(one).map((value) => `${one.name}=${encodeURIComponent(value)}${besides(one)}`),
  );
  const together = BY_TIME[operationId] ?? [];
  return ['', ...each, ...together].map((one) =>
    [...new Set([...required, one])].filter(Boolean).join('&'),
  );
}

/** Returns what a filter of amounts needs. */
function besides({ name }: Parameter): string {
  return /_(min|max)$/.test(name) ? '&currency=EUR' : '';
}

function valuesOf({ name, schema }: Parameter): readonly string[] {
  if (schema?.enum !== undefined) return schema.enum;
  if (schema?.items?.enum !== undefined) {
    return [...schema.items.enum, schema.items.enum.slice(0, 2).join(',')];
  }
  if (schema?.format === 'date-time') return ['2026-03-01T00:00:00.000Z'];
  if (name === 'q') return TEXTS;
  if (name === 'type') return ['invoice.paid', 'invoice.*'];
  return [schema?.example ?? (name.endsWith('_id') ? 'none_01h455vb4pex5vsknk084sn02q' : 'any')];
}

type Parameter = NonNullable<Operation['operation']['parameters']>[number];

type Query = (this: Client, ...given: unknown[]) => unknown;

/** Records the queries that the engine sends while a list is read. */
class Recorder {
  readonly statements: ListStatement[] = [];
  readonly #prototype = Client.prototype as unknown as { query: Query };
  readonly #original = this.#prototype.query;
  #list: string | null = null;

  constructor() {
    const original = this.#original;
    const record = (given: readonly unknown[]): void => {
      this.record(given);
    };
    this.#prototype.query = function query(this: Client, ...given: unknown[]): unknown {
      record(given);
      return original.apply(this, given);
    };
  }

  async during<Result>(list: string, work: () => PromiseLike<Result>): Promise<Result> {
    this.#list = list;
    try {
      return await work();
    } finally {
      this.#list = null;
    }
  }

  end(): void {
    this.#prototype.query = this.#original;
  }

  private record([first, second]: readonly unknown[]): void {
    const isConfigured = typeof first === 'object' && first !== null && 'text' in first;
    const sql = isConfigured ? first.text : first;
    const values = isConfigured && 'values' in first ? first.values : second;
    if (this.#list === null || typeof sql !== 'string' || !/^\s*(SELECT|WITH|DELETE)/.test(sql))
      return;
    this.statements.push({ list: this.#list, sql, values: Array.isArray(values) ? values : [] });
  }
}

describe('every list, and other frequent work, over a million rows', () => {
  let engine: TestApp;
  let recorder: Recorder;
  const made = new MadeIds();

  beforeAll(async () => {
    engine = await startTestApp({ plantsObjects: true });
    recorder = new Recorder();
    for (const { operationId } of STORY) {
      const found = OPERATIONS.find(({ operation }) => operation.operationId === operationId);
      if (found === undefined) throw new Error(`The document has no operation ${operationId}.`);
      for (const { mediaType, text } of bodiesOf(found.operation, made)) {
        const request = engine.http[found.method](pathOf(found, made));
        if (mediaType !== null) void request.set('Content-Type', mediaType);
        made.remember((await request.send(text)).body);
      }
    }
  });

  afterAll(async () => {
    recorder.end();
    await engine.close();
  });

  async function faults(): Promise<readonly string[]> {
    const found = await plansOf(engine.databaseUrl, recorder.statements);
    const lines = new Set(found.map(({ list, fault }) => `${list}: ${fault}`));
    return [...lines].filter((line) => !ALLOWED.some(({ fault }) => fault.test(line)));
  }

  /**
   * Records the statements that consumptions of many customers share: one for a written balance, two if a limit is
   * reached.
   */
  async function recordConsumption(): Promise<void> {
    const meter = await engine.http
      .post('/v1/meters')
      .send({ key: 'planned', name: 'Planned', event_name: 'planned', aggregation: 'count' });
    const { id } = meter.body as { readonly id: string };
    const { key } = await createEntitlement(engine, { meter_id: id });
    const customerId = await createCustomer(engine);
    const path = new Allowances(engine, customerId).path(key);
    await engine.http.post(`${path}/grants`).send({ value: '3' }).expect(201);
    const consume = (name: string) =>
      engine.http.post(`${path}/consume`).send({ quantity: '1', idempotency_key: name });
    await consume('first').expect(200);
    await recorder.during('consume', () => consume('second').expect(200));
    await recorder.during('consume', () => consume('third').expect(200));
    const shared = recorder.statements
      .filter(({ list }) => list === 'consume')
      .map(({ sql }) => sql.replaceAll(/\s+/g, ' '));
    expect(shared).toContainEqual(expect.stringContaining('locked AS MATERIALIZED'));
    expect(shared).toContainEqual(expect.stringContaining('WITH answered'));
  }

  /** Records the statements that delete a test clock, with more customers from commit to commit. */
  async function recordDeletion(): Promise<void> {
    const clock = await engine.http
      .post('/v1/test-clocks')
      .send({ name: 'Planned', now: '2026-03-01T00:00:00.000Z' });
    const { id } = clock.body as { readonly id: string };
    await Promise.all(
      Array.from({ length: 140 }, () => createCustomer(engine, { test_clock_id: id })),
    );
    await recorder.during('deletion', () =>
      engine.http.delete(`/v1/test-clocks/${id}`).expect(204),
    );
  }

  it('reads its page from an index with each of its filters, and sorts only few rows', async () => {
    expect(LISTS.length).toBeGreaterThan(20);
    const refused: string[] = [];
    for (const list of LISTS) {
      for (const query of queriesOf(list)) {
        const name = `${list.operation.operationId}?${query}`;
        const { status } = await recorder.during(name, () =>
          engine.http.get(`${pathOf(list, made)}?${query}`),
        );
        refused.push(...(status === 200 ? [] : [`${name} ${status}`]));
      }
    }
    for (const text of TEXTS) {
      await recorder.during(`search?q=${text}`, () =>
        engine.http.get(`/v1/search?q=${encodeURIComponent(text)}`),
      );
    }
    await recordConsumption();
    await recordDeletion();
    await recorder.during('retention', () => engine.app.get(EventRetention).runDue());
    recorder.end();
    expect(refused).toEqual([]);

    await plantMillions(engine.databaseUrl);
    expect(await faults()).toEqual([]);
  });

  it('is found to read more when the index of a filter is missing', async () => {
    await engine.database.query('DROP INDEX invoice_status_time_index');
    expect(await faults()).toContainEqual(
      expect.stringMatching(/^listInvoices\?status=open: reads all of invoice/),
    );
  });
});
