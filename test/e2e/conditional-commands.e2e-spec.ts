import { createCoupon, type CreatedCoupon } from '../support/coupons';
import { post } from '../support/requests';
import { startTestApp, Story, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';

describe('commands on the version that the caller has seen', () => {
  let engine: TestApp;
  let story: Story;
  let coupon: CreatedCoupon;

  beforeAll(async () => {
    engine = await startTestApp();
    coupon = await createCoupon(engine, {
      type: 'percent',
      percent_off: '10',
      duration: 'forever',
    });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    story = await Story.begin(engine, START);
  });

  const tagOf = async (path: string): Promise<string> =>
    (await engine.http.get(path)).headers['etag'] ?? '';

  const COLLECTIONS = { sub: 'subscriptions', inv: 'invoices', pay: 'payments' };
  const pathOf = (id: string) =>
    `/v1/${COLLECTIONS[id.split('_')[0] as keyof typeof COLLECTIONS]}/${id}`;

  const send = (path: string, tag: string, body: object, key = `key-${path}-${tag}`) =>
    engine.http.post(path).set('If-Match', tag).set('Idempotency-Key', key).send(body);

  /** Changes the metadata of an object, and so its version. Returns the tag from before. */
  async function touch(path: string): Promise<string> {
    const seen = await tagOf(path);
    expect((await engine.http.patch(path).send({ metadata: { seen } })).status).toBe(200);
    return seen;
  }

  async function subscribed(...commands: readonly (readonly [string, object])[]): Promise<string> {
    const { id } = await story.subscribe(await story.seats('1000'), { quantity: '2' });
    for (const [command, body] of commands) await story.command(id, command, body);
    return `/v1/subscriptions/${id}`;
  }

  async function invoiced(...commands: readonly string[]): Promise<string> {
    const { id } = await post(engine, '/v1/invoices', {
      customer_id: story.customerId,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Set-up', amount: 5_000 }],
    });
    const path = `/v1/invoices/${id}`;
    for (const command of commands) await post(engine, `${path}/${command}`, {});
    return path;
  }

  const COMMANDS: readonly {
    readonly command: string;
    readonly setUp: () => Promise<string>;
    readonly bodyOf: () => object;
  }[] = [
    {
      command: 'change',
      setUp: () => subscribed(),
      bodyOf: () => ({ when: 'now', quantity: '3' }),
    },
    {
      command: 'cancel',
      setUp: () => subscribed(),
      bodyOf: () => ({ when: 'now', credit_unused: true }),
    },
    {
      command: 'uncancel',
      setUp: () => subscribed(['cancel', { when: 'period_end' }]),
      bodyOf: () => ({}),
    },
    { command: 'pause', setUp: () => subscribed(), bodyOf: () => ({}) },
    { command: 'resume', setUp: () => subscribed(['pause', {}]), bodyOf: () => ({}) },
    { command: 'coupons', setUp: () => subscribed(), bodyOf: () => ({ code: coupon.code }) },
    { command: 'finalize', setUp: () => invoiced(), bodyOf: () => ({}) },
    { command: 'pay', setUp: () => invoiced('finalize'), bodyOf: () => ({ provider: 'sandbox' }) },
    { command: 'void', setUp: () => invoiced('finalize'), bodyOf: () => ({}) },
    { command: 'mark-uncollectible', setUp: () => invoiced('finalize'), bodyOf: () => ({}) },
    { command: 'reissue', setUp: () => invoiced('finalize', 'void'), bodyOf: () => ({}) },
  ];

  describe.each(COMMANDS)('$command', ({ command, setUp, bodyOf }) => {
    it('is refused for an object that has changed since, and done for the present one', async () => {
      const path = await setUp();
      const outdated = await touch(path);
      const before = (await engine.http.get(path)).body as object;
      const refused = await send(`${path}/${command}`, outdated, bodyOf());
      expect(refused.body).toMatchObject({ status: 412, code: 'precondition_failed' });
      expect((await engine.http.get(path)).body).toEqual(before);
      const done = await send(`${path}/${command}`, `W/${await tagOf(path)}`, bodyOf());
      expect(done.status).toBeLessThan(300);
      const { id } = done.body as { readonly id: string };
      expect(done.headers['etag']).toBe(await tagOf(pathOf(id)));
    });

    it('is done once of two at once, and repeated with its first answer', async () => {
      const path = await setUp();
      const seen = await tagOf(path);
      const body = bodyOf();
      const both = ['a', 'b'].map((key) => send(`${path}/${command}`, seen, body, path + key));
      const answers = await Promise.all(both);
      const won = answers.findIndex(({ status }) => status < 300);
      // A redeemed coupon and the regenerated invoice leave the object as it was: their own rules refuse the second one.
      const refusal = ['coupons', 'reissue'].includes(command) ? 409 : 412;
      expect(answers[1 - won]?.status).toBe(refusal);
      const again = await send(`${path}/${command}`, seen, body, path + (won === 0 ? 'a' : 'b'));
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.body).toEqual(answers[won]?.body);
    });
  });

  const PRICE = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '19900' };

  it.each([
    ['a new version of a plan', '/v1/plans', 'versions', { prices: [PRICE] }],
    ['a new secret of an API key', '/v1/api-keys', 'roll', { overlap_seconds: 0 }],
    ['a new secret of a webhook endpoint', '/v1/webhooks/endpoints', 'rotate-secret', {}],
  ])('%s is made once of two at once', async (_, collection, command, body) => {
    const created = {
      '/v1/plans': {
        code: 'tagged',
        name: 'Tagged',
        currency: 'USD',
        interval: 'month',
        prices: [],
      },
      '/v1/api-keys': { name: 'Tagged', scopes: ['usage:write'] },
      '/v1/webhooks/endpoints': { url: 'https://example.com/hooks', events: ['*'] },
    };
    const terms = created[collection as keyof typeof created];
    const { id } = await post(engine, collection, terms);
    const path = `${collection}/${id}`;
    const sendWith = (tag: string, key: string) =>
      send(`${path}/${command}`, tag, body, path + key);
    const countEvents = async () => (await eventsOf(engine, id)).length;
    const [seen, events] = [await tagOf(path), await countEvents()];
    const [a, b] = await Promise.all([sendWith(seen, 'a'), sendWith(seen, 'b')]);
    const [done, won, refused, lost] = a.status < 300 ? [a, 'a', b, 'b'] : [b, 'b', a, 'a'];
    expect(done.status).toBeLessThan(300);
    expect(refused.body).toMatchObject({ status: 412, code: 'precondition_failed' });
    const again = await sendWith(seen, won);
    expect(again.body).toEqual(done.body);
    expect(await countEvents()).toBe(events + 1);
    const next = await sendWith(await tagOf(path), lost);
    expect(next.status).toBeLessThan(300);
    expect(await countEvents()).toBe(events + 2);
  });

  it('a preview has the tag of the subscription that it was calculated for', async () => {
    const path = await subscribed();
    const change = { when: 'now', plan_id: await story.seats('2000'), quantity: '2' };
    const preview = await engine.http.post(`${path}/change?preview=true`).send(change);
    expect(preview.headers['etag']).toBe(await tagOf(path));
    await engine.http.post(`${path}/change`).send({ when: 'now', quantity: '50' });
    for (const query of ['?preview=true', '']) {
      const { status } = await send(
        `${path}/change${query}`,
        preview.headers['etag'] ?? '',
        change,
      );
      expect(status).toBe(412);
    }
    const current = await engine.http.post(`${path}/change?preview=true`).send(change);
    const done = await send(`${path}/change`, current.headers['etag'] ?? '', change);
    expect(done.body).toMatchObject({ object: 'subscription', quantity: '2' });
    const billed = (await story.invoices()).at(-1);
    expect(billed?.total).toBe((current.body as { readonly total: number }).total);
  });

  describe('on the plan version that the preview showed', () => {
    const activate = (planId: string) =>
      post(engine, `/v1/plans/${planId}/versions`, { prices: [PRICE] });

    async function previewed(path: string, body: object): Promise<string> {
      const answer = await engine.http.post(`${path}?preview=true`).send(body);
      return (answer.body as { readonly plan_version_id: string }).plan_version_id;
    }

    const written = () =>
      engine.database.query(
        `SELECT (SELECT count(*) FROM subscription) AS subscriptions, (SELECT count(*) FROM invoice) AS invoices,
                (SELECT count(*) FROM scheduled_change) AS changes, (SELECT count(*) FROM event) AS events`,
      );

    const startOf = async () => ({
      path: '/v1/subscriptions',
      body: { customer_id: story.customerId, plan_id: await story.seats('2900') },
    });
    const changeOf = (when: string) => async () => ({
      path: `${await subscribed()}/change`,
      body: { when, plan_id: await story.seats('2900') },
    });

    it.each([
      ['a start', startOf],
      ['a change now', changeOf('now')],
      ['a change at the end of the period', changeOf('period_end')],
    ])('%s is refused if the plan has a newer version, and done for the newest', async (_, of) => {
      const { path, body } = await of();
      const plan_version_id = await previewed(path, body);
      const first = `first-${plan_version_id}`;
      await activate(body.plan_id);
      const before = await written();
      for (const query of ['?preview=true', '', '']) {
        const refused = await engine.http
          .post(path + query)
          .set('Idempotency-Key', first)
          .send({ ...body, plan_version_id });
        expect(refused.body).toMatchObject({ status: 409, code: 'plan_version_changed' });
      }
      expect(await written()).toEqual(before);
      const newest = { ...body, plan_version_id: await previewed(path, body) };
      const sendNewest = () =>
        engine.http.post(path).set('Idempotency-Key', `second-${plan_version_id}`).send(newest);
      const done = await sendNewest();
      expect(done.status).toBeLessThan(300);
      // The answer to a key stays the same, whatever the plan has become.
      await activate(body.plan_id);
      expect((await sendNewest()).body).toEqual(done.body);
      const { id } = done.body as { readonly id: string };
      await story.advance('2026-04-01T00:00:00Z');
      expect(await story.subscription(id)).toMatchObject({
        plan_version_id: newest.plan_version_id,
      });
    });

    it('a change keeps the present version, also if the plan has a newer one', async () => {
      const planId = await story.seats('1000');
      const { id } = await story.subscribe(planId);
      const path = `/v1/subscriptions/${id}/change`;
      const body = { when: 'now', quantity: '3' };
      const plan_version_id = await previewed(path, body);
      const { id: newest } = await activate(planId);
      const other = await engine.http.post(path).send({ ...body, plan_version_id: newest });
      expect(other.body).toMatchObject({ status: 409, code: 'plan_version_changed' });
      const done = await story.command(id, 'change', { ...body, plan_version_id });
      expect(done).toMatchObject({ quantity: '3', plan_version_id });
    });
  });

  it('a tag from before a renewal is outdated when the renewal is due', async () => {
    const path = await subscribed();
    const seen = await tagOf(path);
    await story.advance('2026-04-01T00:00:00Z');
    expect((await send(`${path}/pause`, seen, {})).status).toBe(412);
  });
});
