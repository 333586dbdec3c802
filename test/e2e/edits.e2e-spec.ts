import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';

describe('edits by callers', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function draftOf(story: Story, fields: object = {}): Promise<{ id: string; path: string }> {
    const { status, body } = await engine.http.post('/v1/invoices').send({
      customer_id: story.customerId,
      currency: 'USD',
      lines: [{ description: 'Set-up', amount: 5_000 }],
      ...fields,
    });
    expect(status).toBe(201);
    const { id } = body as { id: string };
    return { id, path: `/v1/invoices/${id}` };
  }

  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type);

  describe.each(['invoice', 'subscription'] as const)('metadata of the %s', (resource) => {
    let path: string;
    let id: string;

    beforeAll(async () => {
      const story = await Story.begin(engine, START);
      const subscribed = await story.subscribe(await story.plan(1_000), {
        metadata: { a: 1, b: 2 },
      });
      id = resource === 'subscription' ? subscribed.id : ((await story.invoices())[0]?.id ?? '');
      path = `/v1/${resource}s/${id}`;
      if (resource === 'invoice') {
        await engine.http.patch(path).send({ metadata: { a: 1, b: 2 } });
      }
    });

    it('is merged, with an event', async () => {
      const { status, body } = await engine.http
        .patch(path)
        .send({ metadata: { b: null, c: { d: 'e' } } });
      expect({ status, body: body as object }).toMatchObject({
        status: 200,
        body: { id, metadata: { a: 1, c: { d: 'e' } } },
      });
      expect((body as { metadata: object }).metadata).not.toHaveProperty('b');
      const event = (await eventsOf(engine, id)).at(-1);
      expect(event).toMatchObject({ type: `${resource}.updated` });
      expect(event?.data.previous).toEqual({ metadata: { a: 1, b: 2 } });
    });

    it('stays unchanged after a no-op update, without an event', async () => {
      const before = await engine.http.get(path);
      const events = await typesOf(id);
      for (const body of [{}, { metadata: {} }, { metadata: { a: 1 } }]) {
        const after = await engine.http.patch(path).send(body);
        expect(after.headers['etag']).toBe(before.headers['etag']);
        expect(after.body).toEqual(before.body);
      }
      expect(await typesOf(id)).toEqual(events);
    });

    it('is checked against If-Match and the size limits', async () => {
      const seen = (await engine.http.get(path)).headers['etag'] ?? '';
      const change = (n: number) =>
        engine.http.patch(path).set('If-Match', seen).send({ metadata: { n } });
      const answers = await Promise.all([change(1), change(2)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      const large = { big: 'x'.repeat(10_000) };
      expect((await engine.http.patch(path).send({ metadata: large })).status).toBe(200);
      const more = await engine.http.patch(path).send({ metadata: { more: 'x'.repeat(10_000) } });
      expect(more.body).toMatchObject({ status: 422, code: 'metadata_too_large' });
    });

    it('is the only field that can be edited', async () => {
      const answer = await engine.http.patch(path).send({ quantity: '2' });
      expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
      const unknown = `${path.slice(0, -26)}01h455vb4pex5vsknk084sn02q`;
      const missing = await engine.http.patch(unknown).send({ metadata: { a: 1 } });
      expect(missing.body).toMatchObject({ status: 404, code: `${resource}_not_found` });
    });
  });

  describe('a draft', () => {
    it('is deleted once, with an event', async () => {
      const { id, path } = await draftOf(await Story.begin(engine, START));
      const answers = await Promise.all([engine.http.delete(path), engine.http.delete(path)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
      expect((await engine.http.get(path)).body).toMatchObject({ code: 'invoice_not_found' });
      expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.deleted']);
      expect(
        await engine.database.query('SELECT FROM invoice_line WHERE invoice_id = $1', [id]),
      ).toEqual([]);
    });

    it('that changed since is not deleted', async () => {
      const { path } = await draftOf(await Story.begin(engine, START));
      const { headers } = await engine.http.get(path);
      await engine.http.patch(path).send({ metadata: { seen: true } });
      const answer = await engine.http.delete(path).set('If-Match', headers['etag'] ?? '');
      expect(answer.body).toMatchObject({ status: 412, code: 'precondition_failed' });
    });

    it('that is finalized concurrently is either deleted or finalized', async () => {
      const story = await Story.begin(engine, START);
      const { path } = await draftOf(story);
      const [finalized, deleted] = await Promise.all([
        engine.http.post(`${path}/finalize`).send({}),
        engine.http.delete(path),
      ]);
      expect([
        [200, 409],
        [404, 204],
      ]).toContainEqual([finalized.status, deleted.status]);
      const { path: other } = await draftOf(story);
      await engine.http.post(`${other}/finalize`).send({});
      expect((await engine.http.delete(other)).body).toMatchObject({
        status: 409,
        code: 'invoice_not_draft',
        invoice_status: 'open',
      });
      await story.verify();
    });
  });

  describe('of a deleted customer', () => {
    it('invoices can be finalized, credited, voided and edited', async () => {
      const story = await Story.begin(engine, START);
      const [kept, credited] = [await draftOf(story), await draftOf(story)];
      expect((await engine.http.delete(`/v1/customers/${story.customerId}`)).status).toBe(204);
      for (const { path } of [kept, credited]) {
        expect((await engine.http.post(`${path}/finalize`).send({})).body).toMatchObject({
          status: 'open',
          total: 5_000,
        });
      }
      expect((await engine.http.post(`${kept.path}/void`).send({})).body).toMatchObject({
        status: 'void',
      });
      const { lines } = (await engine.http.get(credited.path)).body as { lines: { id: string }[] };
      const note = await engine.http.post('/v1/credit-notes').send({
        invoice_id: credited.id,
        lines: [{ invoice_line_id: lines[0]?.id, amount: 1_000 }],
        reason: 'Late',
        settle: 'credit',
      });
      expect(note.status).toBe(201);
      const { id: noteId } = note.body as { id: string };
      expect((await engine.http.post(`/v1/credit-notes/${noteId}/void`).send({})).status).toBe(200);
      expect((await engine.http.patch(kept.path).send({ metadata: { a: 1 } })).status).toBe(200);
      expect(
        (await engine.http.post(`${credited.path}/mark-uncollectible`).send({})).body,
      ).toMatchObject({ status: 'uncollectible' });
      await story.verify();
    });

    it('subscriptions refuse commands, with the reason', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await story.subscribe(await story.plan(1_000));
      await engine.http.delete(`/v1/customers/${story.customerId}`);
      for (const command of ['change', 'cancel']) {
        const path = `/v1/subscriptions/${id}/${command}`;
        expect((await engine.http.post(path).send({ when: 'now' })).body).toMatchObject({
          status: 409,
          code: 'subscription_customer_deleted',
        });
      }
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await story.subscription(id)).toMatchObject({ status: 'canceled' });
      await story.verify();
    });
  });
});
