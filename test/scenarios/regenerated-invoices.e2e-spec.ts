import { startTestApp, type Invoice, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';

describe('regenerated invoices', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const post = async (path: string, body: object = {}) => {
    const answer = await engine.http.post(path).send(body);
    return { status: answer.status, body: answer.body as Invoice & { readonly code?: string } };
  };
  const voidIt = async (id: string | undefined): Promise<void> => {
    expect((await post(`/v1/invoices/${id ?? ''}/void`)).status).toBe(200);
  };
  const regenerate = (id: string | undefined) => post(`/v1/invoices/${id ?? ''}/reissue`);

  async function newest(story: Story): Promise<Invoice> {
    const invoice = (await story.invoices()).at(-1);
    if (invoice === undefined) throw new Error('There is an invoice.');
    return invoice;
  }

  async function balanceOf(story: Story, account: string): Promise<string> {
    const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${story.customerId}`);
    const { data } = body as { data: { account: string; balance: string }[] };
    return data.find((one) => one.account === account)?.balance ?? '0';
  }

  it('have the same charges with current taxes, once, and the period is billed once', async () => {
    const story = await Story.begin(engine, START);
    await story.subscribe(await story.seats('1000'), { quantity: '3' });
    await story.advance(APRIL);
    const wrong = await newest(story);
    const vat = await post('/v1/tax-rates', { name: 'VAT', percentage: '19' });
    await engine.http
      .patch(`/v1/customers/${story.customerId}`)
      .send({ tax_rate_ids: [vat.body.id] });
    expect((await regenerate(wrong.id)).body).toMatchObject({
      status: 409,
      code: 'invoice_not_void',
      invoice_status: 'open',
    });
    await voidIt(wrong.id);
    await story.advance('2026-04-05T00:00:00.000Z');
    const { status, body: right } = await regenerate(wrong.id);
    expect(status).toBe(201);
    expect(right).toMatchObject({
      reissue_of: wrong.id,
      number: expect.stringMatching(/^TEST-/) as string,
      status: 'open',
      reason: 'renewal',
      period_start: APRIL,
      period_end: '2026-05-01T00:00:00.000Z',
      subtotal: 3_000,
      tax: 570,
      total: 3_570,
      lines: [{ type: 'recurring', quantity: '3', amount: 3_000, period_start: APRIL }],
    });
    expect((await regenerate(wrong.id)).body).toMatchObject({
      code: 'invoice_reissued',
      reissued_as: right.id,
    });
    await story.advance('2026-06-01T00:00:00.000Z');
    const billed = (await story.invoices()).filter(({ status: state }) => state !== 'void');
    expect(billed.map(({ period_start }) => period_start?.slice(0, 7))).toEqual([
      '2026-03',
      '2026-04',
      '2026-05',
      '2026-06',
    ]);
    await story.verify();
  });

  it('can be voided and regenerated again, by one of several concurrent requests', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(1_000));
    const [first] = await story.invoices();
    await voidIt(first?.id);
    const answers = await Promise.all([1, 2, 3].map(() => regenerate(first?.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const second = await newest(story);
    await voidIt(second.id);
    const third = await regenerate(second.id);
    expect(third.body).toMatchObject({ reissue_of: second.id, total: 1_000 });
    // Lines of a regenerated invoice are credited like any others when the subscription ends.
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect((await newest(story)).subtotal).toBe(-645);
    expect(await balanceOf(story, 'deferred_revenue')).toBe('0');
    await story.verify();
  });

  it('do not discount with a coupon what a maximum took off', async () => {
    const story = await Story.begin(engine, START);
    const code = `ALL-${story.clockId.slice(-8)}`;
    const coupon = { code, type: 'percent', percent_off: '100', duration: 'forever' };
    expect((await post('/v1/coupons', coupon)).status).toBe(201);
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };
    const { id: planId } = await story.planOf([{ ...price, maximum_amount: 600 }]);
    const { id } = await story.subscribe(planId, { quantity: '10' });
    const first = await newest(story);
    await voidIt(first.id);
    await story.command(id, 'coupons', { code });
    // Not 1,000 off, which would leave the customer 4.00 of credit without a reason.
    expect((await regenerate(first.id)).body).toMatchObject({
      subtotal: 600,
      discount: 600,
      total: 0,
      credited_to_balance: 0,
      lines: [
        { type: 'recurring', amount: 1_000, discount: 600 },
        { type: 'maximum', amount: -400, discount: 0 },
      ],
    });
    await story.verify();
  });

  it('credit again what a change credited', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(6_200), when: 'now' });
    const change = await newest(story);
    expect(change.lines.map(({ amount }) => amount)).toEqual([4_200, -2_100]);
    await voidIt(change.id);
    // Meanwhile a part of the old price is credited: the credit is for 21 of 31 days of the 16.00 that are left.
    const [bought] = await story.invoices();
    const note = await post('/v1/credit-notes', {
      invoice_id: bought?.id,
      lines: [{ invoice_line_id: bought?.lines[0]?.id, amount: 1_500 }],
      reason: 'Late',
      settle: 'credit',
    });
    expect(note.status).toBe(201);
    const again = (await regenerate(change.id)).body;
    expect(again.lines.map(({ amount }) => amount)).toEqual([4_200, -1_084]);
    await story.advance(APRIL);
    expect(await balanceOf(story, 'deferred_revenue')).toBe('-6200');
    await story.verify();
  });

  it('credit again what a change of the interval credited, from revenue by then', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-11T00:00:00.000Z');
    const yearly = await story.plan(36_500, { interval: 'year' });
    await story.command(id, 'change', { plan_id: yearly, when: 'now' });
    const change = await newest(story);
    const before = await balanceOf(story, 'deferred_revenue');
    await voidIt(change.id);
    const again = (await regenerate(change.id)).body;
    expect(again.lines.map(({ amount }) => amount)).toEqual([36_500, -2_100]);
    expect(await balanceOf(story, 'deferred_revenue')).toBe(before);
    await story.verify();
  });

  it('are refused if a prepaid line was changed or ended before its time', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.seats('100'), { quantity: '3' });
    const [first] = await story.invoices();
    await voidIt(first?.id);
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'change', { quantity: '5', when: 'now' });
    expect((await regenerate(first?.id)).body).toMatchObject({
      status: 409,
      code: 'invoice_overtaken',
    });
    // The rest of the period alone is billed.
    expect(await story.amounts()).toEqual([[300], [339]]);
    await story.verify();
  });

  it('are recognized as revenue at once if the subscription ended without credit, and refused otherwise', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(3_100));
    const other = await story.subscribe(await story.plan(3_100));
    const [first, second] = await story.invoices();
    await voidIt(first?.id);
    await voidIt(second?.id);
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    await story.command(other.id, 'cancel', { when: 'now', credit_unused: true });
    // Nothing was credited, so that all of March is owed.
    const { status, body: again } = await regenerate(first?.id);
    expect(status).toBe(201);
    expect(again.lines).toMatchObject([{ amount: 3_100, period_start: START, period_end: APRIL }]);
    expect((await regenerate(second?.id)).body).toMatchObject({ code: 'invoice_overtaken' });
    expect(await balanceOf(story, 'deferred_revenue')).toBe('0');
    expect(await balanceOf(story, 'revenue')).toBe('-3100');
    await voidIt(again.id);
    expect(await balanceOf(story, 'revenue')).toBe('0');
    await story.verify();
  });

  it('are refused for lines that were changed before a subscription ended without credit', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.seats('100'), { quantity: '3' });
    const [first] = await story.invoices();
    await voidIt(first?.id);
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'change', { quantity: '5', when: 'now' });
    await story.command(id, 'cancel', { when: 'now' });
    expect((await regenerate(first?.id)).body).toMatchObject({ code: 'invoice_overtaken' });
    await story.verify();
  });

  it('for a past period are recognized as revenue at once', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(1_000));
    await voidIt((await newest(story)).id);
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance('2026-08-01T00:00:00.000Z');
    const [first] = await story.invoices();
    expect((await regenerate(first?.id)).body).toMatchObject({
      total: 1_000,
      due_at: '2026-08-01T00:00:00.000Z',
    });
    expect(await balanceOf(story, 'deferred_revenue')).toBe('0');
    expect(await balanceOf(story, 'revenue')).toBe('-1000');
    await voidIt((await newest(story)).id);
    expect(await balanceOf(story, 'revenue')).toBe('0');
    await story.verify();
  });

  describe('with usage', () => {
    const JANUARY = '2026-01-01T00:00:00.000Z';

    /** Bills 60 calls at 10 and a base for January, and voids the invoice of February. */
    async function used() {
      const story = await Story.begin(engine, JANUARY);
      const { id: meterId, event } = await story.meter();
      const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };
      const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
      const { id: planId } = await story.planOf([base, { ...calls, meter_id: meterId }]);
      const { id } = await story.subscribe(planId);
      const keys = [
        await story.reportUsage(event, JANUARY, { n: 20 }),
        await story.reportUsage(event, '2026-01-01T23:00:00.000Z', { n: 40 }),
      ];
      await story.advance('2026-02-01T00:00:00.000Z');
      const voided = await newest(story);
      expect(voided.lines.map(({ amount }) => amount)).toEqual([1_000, 600]);
      await voidIt(voided.id);
      return { story, subscriptionId: id, meterId, event, keys, voided };
    }
    type Used = Awaited<ReturnType<typeof used>>;

    const takeBack = async (key: string | undefined): Promise<void> => {
      expect((await post('/v1/usage-events/void', { idempotency_key: key })).status).toBe(200);
    };

    async function proof({ story, meterId }: Used): Promise<object> {
      const query = `customer_id=${story.customerId}&from=${JANUARY}&to=2026-02-01T00:00:00Z`;
      return (await engine.http.get(`/v1/meters/${meterId}/proof?${query}`)).body as object;
    }

    /** Returns the keys of the events that the usage line of an invoice counted. */
    async function countedBy({ id, lines }: Invoice): Promise<readonly string[]> {
      const usage = lines.find(({ type }) => type === 'usage');
      const { body } = await engine.http.get(`/v1/invoices/${id}/lines/${usage?.id}/events`);
      const { data } = body as { data: readonly { idempotency_key: string }[] };
      return data.map(({ idempotency_key: key }) => key);
    }

    const lateLines = async ({ story }: Used) =>
      (await story.invoices())
        .filter(({ status }) => status !== 'void')
        .flatMap(({ lines }) => lines)
        .filter(({ description }) => description === 'Calls (late usage)')
        .map(({ quantity, amount }) => [quantity, amount]);

    it('bill the same events again, if none changed', async () => {
      const setup = await used();
      const { story, event, keys, voided } = setup;
      // What a void bill counted is billed again by an invoice that is made again, or with later changes.
      expect(await proof(setup)).toMatchObject({ counted: 2, billed: 2, pending: 0 });
      const again = (await regenerate(voided.id)).body;
      expect(again.lines).toMatchObject([
        { type: 'recurring', amount: 1_000 },
        { type: 'usage', quantity: '60', amount: 600, period_start: JANUARY },
      ]);
      expect(await countedBy(again)).toEqual(keys);
      const late = await story.reportUsage(event, JANUARY, { n: 5 });
      expect(await proof(setup)).toMatchObject({ counted: 3, billed: 2, pending: 1 });
      await story.advance(START);
      expect(await lateLines(setup)).toEqual([['5', 50]]);
      expect(await proof(setup)).toMatchObject({ counted: 3, billed: 3, pending: 0 });
      await takeBack(late);
      await story.advance('2026-05-01T00:00:00.000Z');
      expect(await lateLines(setup)).toEqual([
        ['5', 50],
        ['-5', -50],
      ]);
      const kept = await engine.database.query(
        `SELECT is_late, quantity::float FROM usage_billed
         WHERE meter_id = $1 AND period_start_at = $2 ORDER BY up_to_position, id`,
        [setup.meterId, JANUARY],
      );
      expect(kept).toEqual([
        { is_late: false, quantity: 60 },
        { is_late: false, quantity: 60 },
        { is_late: false, quantity: 65 },
        { is_late: false, quantity: 60 },
      ]);
      await story.verify();
    });

    it.each(['runs', 'ended'])(
      'leave no late usage, so that nothing is charged if they are voided too: the subscription %s',
      async (state) => {
        const setup = await used();
        const { story, subscriptionId, voided } = setup;
        if (state === 'ended') await story.command(subscriptionId, 'cancel', { when: 'now' });
        const again = (await regenerate(voided.id)).body;
        expect(again.lines).toMatchObject([{ amount: 1_000 }, { type: 'usage', amount: 600 }]);
        expect((await story.usage()).filter(({ is_late }) => is_late)).toEqual([]);
        const closed = await engine.database.query(
          'SELECT late_due_at FROM usage_closed_subscription WHERE id = $1',
          [subscriptionId],
        );
        expect(closed).toEqual(state === 'ended' ? [{ late_due_at: null }] : []);
        await voidIt(again.id);
        await story.advance(START);
        expect(await lateLines(setup)).toEqual([]);
        expect((await regenerate(again.id)).body).toMatchObject({ subtotal: 1_600 });
        await story.verify();
      },
    );

    it('bill the events that there are by then, if some changed', async () => {
      const setup = await used();
      const { story, event, keys, voided } = setup;
      await takeBack(keys[0]);
      const late = await story.reportUsage(event, JANUARY, { n: 5 });
      const again = (await regenerate(voided.id)).body;
      expect(again.lines).toMatchObject([
        { type: 'recurring', amount: 1_000 },
        { type: 'usage', quantity: '45', amount: 450, period_start: JANUARY },
      ]);
      expect(await countedBy(again)).toEqual([late, keys[1]]);
      expect(await proof(setup)).toMatchObject({ counted: 2, billed: 2, pending: 0 });
      await story.advance(START);
      expect(await lateLines(setup)).toEqual([]);
      await story.verify();
    });

    it('leave out usage that the next invoice billed, because events changed while they were void', async () => {
      const setup = await used();
      const { story, keys, voided } = setup;
      await takeBack(keys[0]);
      expect((await story.usage()).filter(({ is_late }) => is_late)).toMatchObject([
        { period_start: JANUARY, amount: 400 },
      ]);
      await story.advance(START);
      expect(await lateLines(setup)).toEqual([['40', 400]]);
      expect((await regenerate(voided.id)).body).toMatchObject({ subtotal: 1_000 });
      await story.advance('2026-05-01T00:00:00.000Z');
      expect(await lateLines(setup)).toEqual([['40', 400]]);
      await story.verify();
    });
  });

  it.each(['expiry', 'cancel', 'void'])(
    'are refused for a period that never started, even after it is over by its %s',
    async (end) => {
      const story = await Story.begin(engine, START);
      const terms = {
        payment_behavior: 'default_incomplete',
        start_at: '2026-01-10T00:00:00.000Z',
      };
      const { id } = await story.subscribe(await story.seats('1000'), terms);
      if (end === 'void') await voidIt((await newest(story)).id);
      if (end === 'cancel') await story.command(id, 'cancel', { when: 'now' });
      await story.advance('2026-03-02T00:00:00.000Z');
      const { id: first, status } = await newest(story);
      expect(status).toBe('void');
      expect((await regenerate(first)).body).toMatchObject({ code: 'invoice_overtaken' });
      expect(await story.invoices()).toHaveLength(1);
      await story.verify();
    },
  );

  it('return discounts to coupons as the void invoice did', async () => {
    const story = await Story.begin(engine, START, { currency: 'USD' });
    const coupon = { code: 'RETURNED', type: 'amount', amount_off: 5_000, duration: 'once' };
    expect((await post('/v1/coupons', { ...coupon, currency: 'USD' })).status).toBe(201);
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 2_000 },
      { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000', meter_id },
    ]);
    await story.subscribe(planId, { coupon: 'RETURNED', collection: 'send_invoice' });
    const idempotency_key = await story.reportUsage(event, START, { n: 1 });
    await story.advance(APRIL);
    expect((await post('/v1/usage-events/void', { idempotency_key })).status).toBe(200);
    await story.advance('2026-05-01T00:00:00.000Z');
    const before = await newest(story);
    expect(before).toMatchObject({ subtotal: 2_000, discount: 1_000 });
    await voidIt(before.id);
    const again = { status: 'open', subtotal: 2_000, discount: 1_000, total: 1_000 };
    expect((await regenerate(before.id)).body).toMatchObject(again);
    await story.verify();
  });

  it.each([
    ['a percentage', { type: 'percent', percent_off: '50' }, 1_000],
    ['an amount', { type: 'amount', amount_off: 700, currency: 'USD' }, 1_300],
  ])('have the discount of a coupon that lasts once: %s', async (_, terms, total) => {
    const story = await Story.begin(engine, START, { currency: 'USD' });
    const code = `ONCE${terms.type.toUpperCase()}`;
    expect((await post('/v1/coupons', { code, duration: 'once', ...terms })).status).toBe(201);
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 2_000 };
    const { id: planId } = await story.planOf([base]);
    await story.subscribe(planId, { coupon: code, collection: 'send_invoice' });
    const before = await newest(story);
    expect(before).toMatchObject({ total });
    await voidIt(before.id);
    expect((await regenerate(before.id)).body).toMatchObject({ total });
    await story.advance(APRIL);
    expect(await newest(story)).toMatchObject({ total: 2_000 });
    await story.verify();
  });

  it('of an ended subscription have the coupon that ended with it, which stays ended', async () => {
    const story = await Story.begin(engine, START, { currency: 'USD' });
    const terms = { type: 'percent', percent_off: '50', duration: 'once' };
    const coupon = await post('/v1/coupons', { code: 'ENDED', ...terms });
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 2_000 };
    const { id: planId } = await story.planOf([base]);
    const { id } = await story.subscribe(planId, { coupon: 'ENDED', collection: 'send_invoice' });
    await story.advance('2026-03-02T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    const before = await newest(story);
    await voidIt(before.id);
    const path = `/v1/coupons/${coupon.body.id}/redemptions`;
    const ended_at = expect.any(String) as string;
    const { body } = await engine.http.get(path);
    expect(body).toMatchObject({ data: [{ applied_amount: 0, ended_at }] });
    expect((await regenerate(before.id)).body).toMatchObject({ total: 1_000 });
    const { body: after } = await engine.http.get(path);
    expect(after).toMatchObject({ data: [{ applied_amount: 1_000, ended_at }] });
    await story.verify();
  });

  it('can be one-off', async () => {
    const story = await Story.begin(engine, START);
    const { body } = await post('/v1/invoices', {
      customer_id: story.customerId,
      currency: 'USD',
      lines: [{ description: 'Set-up', amount: 5_000 }],
    });
    await post(`/v1/invoices/${body.id}/finalize`);
    await voidIt(body.id);
    expect((await regenerate(body.id)).body).toMatchObject({ total: 5_000, status: 'open' });
    expect((await regenerate('inv_01h455vb4pex5vsknk084sn02q')).body).toMatchObject({
      status: 404,
    });
    await story.verify();
  });
});
