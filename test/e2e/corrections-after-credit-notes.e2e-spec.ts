import { post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 };

/** 100 calls at 0.10 in March, billed on 1 April. They are credited by a note, and voided. */
describe('corrections of usage that a credit note credited', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function billed() {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([base, { ...calls, meter_id }]);
    await story.subscribe(planId, { collection: 'send_invoice' });
    const use = (day: string, n: number) => story.reportUsage(event, on(day), { n });
    const key = await use('03-01', 100);
    await story.advance(on('04-01'));
    const invoice = (await story.invoices()).at(-1);
    const line = invoice?.lines.find(({ type }) => type === 'usage');
    expect(line).toMatchObject({ quantity: '100', amount: 1_000 });
    const note = async (amount: number): Promise<string> => {
      const { status, body } = await engine.http.post('/v1/credit-notes').send({
        invoice_id: invoice?.id,
        lines: [{ invoice_line_id: line?.id, amount }],
        reason: 'Not as agreed',
        settle: 'credit',
      });
      expect(status).toBe(201);
      return (body as { id: string }).id;
    };
    const voidEvent = async (idempotency_key: string): Promise<void> => {
      await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    };
    const voidNote = async (id: string): Promise<object> =>
      (await engine.http.post(`/v1/credit-notes/${id}/void`).send({})).body as object;
    /** Advances to a day, and returns all late usage billed by then. */
    const late = async (day: string) => {
      await story.advance(on(day));
      await story.verify();
      const all = (await story.invoices()).flatMap(({ lines }) => lines);
      return all
        .filter(({ description }) => description === 'Calls (late usage)')
        .map(({ quantity, amount }) => [quantity, amount]);
    };
    return { story, use, key, note, voidEvent, voidNote, late };
  }

  it.each([
    [1_000, 0],
    [999, -1],
    [700, -300],
  ])('after a note of %d give back %d; usage that comes later is billed', async (noted, given) => {
    const { use, key, note, voidEvent, late } = await billed();
    await note(noted);
    await voidEvent(key);
    expect(await late('05-01')).toEqual([['-100', given]]);
    await use('03-02', 60);
    expect(await late('08-01')).toEqual([
      ['-100', given],
      ['60', 600],
    ]);
  });

  it.each([1_000, 700])('keep the note of %d from being voided', async (noted) => {
    const { key, note, voidEvent, voidNote, late } = await billed();
    const id = await note(noted);
    await voidEvent(key);
    await late('05-01');
    expect(await voidNote(id)).toMatchObject({ status: 409, code: 'credit_note_corrected' });
    expect(await late('08-01')).toEqual([['-100', noted - 1_000]]);
  });

  it.each([
    ['once their void invoice is regenerated', true, -300],
    ['but not while it is void: the next one gives back the rest as well', false, -1_000],
  ])('keep the note from being voided %s', async (_, isMadeAgain, given) => {
    const { story, key, note, voidEvent, voidNote, late } = await billed();
    const id = await note(700);
    await voidEvent(key);
    await late('05-01');
    const { id: correcting = '' } = (await story.invoices()).at(-1) ?? {};
    await engine.http.post(`/v1/invoices/${correcting}/void`).send({}).expect(200);
    if (isMadeAgain) {
      await engine.http.post(`/v1/invoices/${correcting}/reissue`).send({}).expect(201);
      expect(await voidNote(id)).toMatchObject({ code: 'credit_note_corrected' });
    } else expect(await voidNote(id)).toMatchObject({ id, status: 'void' });
    expect(await late('06-01')).toEqual([
      ['-100', -300],
      ['-100', given],
    ]);
  });

  it('that were made before the note do not keep it from being voided', async () => {
    const { use, note, voidEvent, voidNote, late } = await billed();
    const added = await use('03-03', 50);
    expect(await late('05-01')).toEqual([['50', 500]]);
    await voidEvent(added);
    expect(await late('06-02')).toEqual([
      ['50', 500],
      ['-50', -500],
    ]);
    const id = await note(700);
    expect(await voidNote(id)).toMatchObject({ id, status: 'void' });
  });

  it('that only add usage do not keep a note from being voided', async () => {
    const { use, note, voidNote, late } = await billed();
    const id = await note(700);
    await use('03-02', 30);
    expect(await late('05-01')).toEqual([['30', 300]]);
    expect(await voidNote(id)).toMatchObject({ id, status: 'void' });
  });
});

/** A plan of 310.00 for March, billed in advance on 1 March. A credit note takes a part back on that day. */
describe('credits of unused time after credit notes', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const MARCH = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 31_000 };

  async function billed(price: object = MARCH) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const { id: planId } = await story.planOf([price]);
    const { id } = await story.subscribe(planId, { collection: 'send_invoice' });
    const [invoice] = await story.invoices();
    const invoiceId = invoice?.id ?? '';
    await post(engine, `/v1/invoices/${invoiceId}/pay`, { provider: 'manual' });
    const note = async (amount: number, settle = 'credit', line = 0): Promise<string> => {
      const lines = [{ invoice_line_id: invoice?.lines[line]?.id, amount }];
      const reason = 'By mistake';
      const order = { invoice_id: invoiceId, lines, reason, settle };
      return (await post(engine, '/v1/credit-notes', order)).id;
    };
    const voidNote = async (noteId: string): Promise<object> =>
      (await engine.http.post(`/v1/credit-notes/${noteId}/void`).send({})).body as object;
    const act = (path: string): Promise<{ id: string }> => post(engine, `/v1/invoices/${path}`, {});
    const end = () => story.command(id, 'cancel', { when: 'now', credit_unused: true });
    const change = async (to = 62_000, fields = {}) =>
      story.command(id, 'change', { plan_id: await story.plan(to, fields), when: 'now' });
    return { story, note, voidNote, act, end, change };
  }

  const REFUSED = { status: 409, code: 'credit_note_corrected' };

  it.each([
    ['credit', 31_000, 0, 0],
    ['refund', 31_000, 0, 0],
    ['refund', 15_500, -7_500, -8_000],
    ['credit', 3_100, -13_500, -14_400],
  ])(
    'keep a note with settle %s of %d from being voided',
    async (settle, noted, atEnd, atChange) => {
      const ended = await billed();
      const ofEnded = await ended.note(noted, settle);
      await ended.story.advance(on('03-16'));
      await ended.end();
      expect(await ended.story.amounts()).toEqual([[31_000], [atEnd]]);
      const [, end] = await ended.story.invoices();
      expect(await ended.voidNote(ofEnded)).toMatchObject({
        ...REFUSED,
        detail: expect.stringContaining(end?.id ?? '') as string,
      });

      const changed = await billed();
      const ofChanged = await changed.note(noted, settle);
      await changed.story.advance(on('03-16'));
      await changed.change();
      expect(await changed.story.amounts()).toEqual([[31_000], [32_000, atChange]]);
      expect(await changed.voidNote(ofChanged)).toMatchObject(REFUSED);
      await changed.story.verify();
    },
  );

  it('keep a note from being voided after a change of the interval', async () => {
    const { story, note, voidNote, change } = await billed();
    const id = await note(31_000, 'refund');
    await story.advance(on('03-16'));
    await change(365_000, { interval: 'year' });
    expect(await story.amounts()).toEqual([[31_000], [365_000, 0]]);
    expect(await voidNote(id)).toMatchObject(REFUSED);
  });

  it('keep a note of the minimum from being voided', async () => {
    const { story, note, voidNote, end } = await billed({
      ...{ name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '10000' },
      minimum_amount: 31_000,
    });
    const id = await note(10_500, 'credit', 1);
    await story.advance(on('03-16'));
    await end();
    expect(await story.amounts()).toEqual([[10_000, 21_000], [-9_919]]);
    expect(await voidNote(id)).toMatchObject(REFUSED);
  });

  it.each([
    [31_000, 32_000],
    [15_500, 24_000],
  ])(
    'are made again in full once their void invoice is regenerated without the note of %d',
    async (noted, before) => {
      const { story, note, voidNote, act, change } = await billed();
      const id = await note(noted);
      await story.advance(on('03-16'));
      await change();
      const [, changed] = await story.invoices();
      expect(changed).toMatchObject({ total: before });
      await act(`${changed?.id}/void`);
      expect(await voidNote(id)).toMatchObject({ id, status: 'void' });
      await act(`${changed?.id}/reissue`);
      expect((await story.invoices()).at(-1)).toMatchObject({ total: 16_000 });
      await story.verify();
    },
  );

  it('keep the note from being voided once their void invoice is regenerated', async () => {
    const { story, note, voidNote, act, change } = await billed();
    const id = await note(31_000);
    await story.advance(on('03-16'));
    await change();
    const [, changed] = await story.invoices();
    await act(`${changed?.id}/void`);
    await act(`${changed?.id}/reissue`);
    expect((await story.invoices()).at(-1)).toMatchObject({ total: 32_000 });
    expect(await voidNote(id)).toMatchObject(REFUSED);
  });

  it('keep only notes from before them from being voided', async () => {
    const { story, note, voidNote, end } = await billed();
    const first = await note(10_000);
    await story.advance(on('03-16'));
    await end();
    await story.advance(on('03-17'));
    const second = await note(5_000);
    expect(await voidNote(second)).toMatchObject({ status: 'void' });
    expect(await voidNote(first)).toMatchObject(REFUSED);
  });

  it('keep no note from being voided if no time was unused, or none is credited', async () => {
    const { story, note, voidNote, end } = await billed();
    const id = await note(31_000);
    await story.advance(on('03-31'));
    await end();
    expect(await story.amounts()).toEqual([[31_000]]);
    expect(await voidNote(id)).toMatchObject({ id, status: 'void' });

    const whole = await billed();
    const other = await whole.note(31_000);
    await whole.story.advance(on('03-16'));
    await whole.change(62_000, { proration: 'none' });
    expect(await whole.voidNote(other)).toMatchObject({ id: other, status: 'void' });
  });
});
