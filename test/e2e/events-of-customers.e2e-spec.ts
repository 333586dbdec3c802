import { startTestApp, type TestApp } from '../support/test-app';

interface Event {
  readonly type: string;
  readonly actor: string | null;
}

describe('events of customers', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function list(query: Readonly<Record<string, string>>): Promise<readonly Event[]> {
    const answer = await engine.http.get('/v1/events').query(query);
    expect(answer.status).toBe(200);
    return (answer.body as { data: Event[] }).data;
  }

  const create = async (path: string, body: object): Promise<string> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  };
  const typesOf = async (query: Readonly<Record<string, string>>) =>
    (await list(query)).map(({ type }) => type);
  let clock: string;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    clock = await create('test-clocks', { name: 'C', now: '2026-03-01T00:00:00Z' });
    ada = await create('customers', { name: 'Ada', test_clock_id: clock });
    bob = await create('customers', { name: 'Bob', test_clock_id: clock });
    await create('customers', { name: 'Eve' });
    const lines = [{ description: 'Work', amount: 100 }];
    for (const customer_id of [ada, bob]) {
      await create('invoices', { customer_id, currency: 'USD', lines });
    }
    await engine.http.patch(`/v1/customers/${ada}`).send({ name: 'Ada L.' });
  });

  it('can be listed by customer, with those of its objects', async () => {
    expect(await typesOf({ customer_id: ada })).toEqual([
      'customer.updated',
      'invoice.created',
      'customer.updated',
      'customer.created',
    ]);
    expect(await typesOf({ customer_id: ada, type: 'customer.*' })).toEqual([
      'customer.updated',
      'customer.updated',
      'customer.created',
    ]);
    expect(await typesOf({ customer_id: ada, type: 'invoice.created' })).toHaveLength(1);
    expect(await typesOf({ customer_id: ada, from: '2026-03-01T00:00:00.001Z' })).not.toContain(
      'invoice.created',
    );
    expect(await typesOf({ customer_id: 'cus_01h455vb4pex5vsknk084sn02q' })).toEqual([]);
  });

  it('can be listed by test clock, page by page', async () => {
    const all = await list({ test_clock_id: clock });
    expect(all.map(({ type }) => type)).toEqual([
      'customer.updated',
      'invoice.created',
      'customer.updated',
      'invoice.created',
      'customer.updated',
      'customer.created',
      'customer.created',
    ]);
    const paged: unknown[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await engine.http
        .get('/v1/events')
        .query({ test_clock_id: clock, limit: 2, ...(cursor !== null && { cursor }) });
      const page = body as { data: unknown[]; next_cursor: string | null };
      paged.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(paged).toEqual(all);
    expect(await typesOf({ test_clock_id: clock, customer_id: bob })).toEqual([
      'invoice.created',
      'customer.updated',
      'customer.created',
    ]);
    expect(await typesOf({ test_clock_id: 'clock_01h455vb4pex5vsknk084sn02q' })).toEqual([]);
  });

  it('can be listed by who caused them', async () => {
    const [event] = await list({ customer_id: ada });
    const actor = event?.actor ?? '';
    expect(await typesOf({ actor, customer_id: ada })).toHaveLength(4);
    expect(await typesOf({ actor: 'key_01h455vb4pex5vsknk084sn02q' })).toEqual([]);
  });
});
