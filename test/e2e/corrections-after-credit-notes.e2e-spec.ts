import { startTestApp, Story, type TestApp } from '../support/story';

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
