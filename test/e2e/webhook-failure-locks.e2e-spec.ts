import { DeliveriesRepository } from '../../src/modules/webhooks/delivery/deliveries.repository';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

const ROW = 'SELECT FROM webhook_failure WHERE endpoint_id = $1 FOR UPDATE';

describe('results of several endpoints', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ plantsEvents: true });
  });

  afterAll(() => engine.close());

  /** Creates endpoints that began to fail a day ago, with a delivery each. Returns their ids in order. */
  async function failingEndpoints(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const endpoint = { url: `https://hooks.example.com/${count}`, events: ['*'] };
      const { body } = await engine.http.post('/v1/webhooks/endpoints').send(endpoint).expect(201);
      ids.push((body as { id: string }).id);
    }
    const { body } = await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    await engine.database.query(
      `INSERT INTO webhook_delivery (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, due_at,
         attempts, fence, created_at, updated_at)
       SELECT 'whd_' || endpoint, endpoint, event.id, event.type, event.object_id, 1, 'event', 'pending', $2, 0, 1, $2, $2
       FROM unnest($1::text[]) AS endpoint CROSS JOIN event WHERE event.object_id = $3`,
      [ids, engine.clock.now(), (body as { id: string }).id],
    );
    const since = new Date(engine.clock.now().getTime() - 86_400_000);
    await engine.database.query(
      'INSERT INTO webhook_failure (endpoint_id, since) SELECT unnest($1::text[]), $2',
      [ids, since],
    );
    return ids.sort();
  }

  it.each([
    ['failed', [0, 1, 2]],
    ['failed', [2, 1, 0]],
    ['succeeded', [0, 1, 2]],
    ['succeeded', [2, 1, 0]],
  ])('are recorded in the order of the endpoints (%s, %j)', async (status, order) => {
    const [first = '', second = '', last = ''] = await failingEndpoints();
    const commit = await openTransaction(engine.database, () => engine.database.query(ROW, [last]));
    const now = engine.clock.now();
    const recording = engine.app.get(DeliveriesRepository).record(
      order.map((place) => {
        const endpointId = [first, second, last][place] ?? '';
        return {
          delivery: {
            id: `whd_${endpointId}`,
            fence: 1,
            endpointId,
            url: '',
            eventId: '',
            attempts: 0,
          },
          attempt: {
            startedAt: now,
            durationMs: 1,
            statusCode: 500,
            error: null,
            responseStart: null,
          },
          isSent: true,
          status,
          dueAt: null,
        };
      }) as Parameters<DeliveriesRepository['record']>[0],
      now,
    );
    try {
      await untilSessionsWait(engine.database);
      for (const id of [first, second]) {
        expect(await engine.database.query(`${ROW} SKIP LOCKED`, [id])).toEqual([]);
      }
    } finally {
      await commit();
      await recording;
    }
  });
});
