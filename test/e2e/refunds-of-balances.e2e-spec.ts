import { Client } from 'pg';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { ProviderRefundsService } from '../../src/modules/refunds/provider-refunds.service';
import { RefundsService } from '../../src/modules/refunds/refunds.service';
import { recordDispute } from '../support/disputes';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

const PAID: ProviderOutcome = { kind: 'succeeded', reference: 'pm_sandbox_ok/reported' };
const RETURNED: ProviderOutcome = {
  ...{ kind: 'failed', failureCode: 'returned_by_bank', retry: 'soft' },
};
const UNKNOWN = 'pay_00000000000000000000000000';

interface Identified {
  readonly id: string;
}

/** Money that a customer paid, and that a credit note or an end turned into credit of its balance. */
describe('a refund of a payment whose money is credit of the customer', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const create = async (path: string, body: object): Promise<Identified> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return answer.body as Identified;
  };
  const begin = (): Promise<Story> =>
    Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
  const refund = async (payment: string, amount?: number): Promise<object> =>
    (await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount })).body as object;
  const settle = (made: object, outcome: string) =>
    engine.http
      .post(`/v1/sandbox/refunds/${(made as Identified).id}/settle`)
      .send({ outcome })
      .expect(200);

  /** Asks the provider about a refund again, which answers with the outcome. */
  async function report(made: object, outcome: ProviderOutcome): Promise<void> {
    jest.spyOn(engine.app.get(SandboxProvider), 'refund').mockResolvedValueOnce(outcome);
    await engine.app.get(RefundsService).resume((made as Identified).id);
  }
  /** Reports the success of a failed refund, and returns the path that applies this report. */
  async function reportLate(made: object): Promise<string> {
    await report(made, PAID);
    const { body } = await engine.http.get('/v1/provider-discrepancies?limit=100&status=open');
    const { data } = body as { data: (Identified & { readonly refund_id: string })[] };
    const found = data.find(({ refund_id: id }) => id === (made as Identified).id);
    return `/v1/provider-discrepancies/${found?.id ?? ''}/apply`;
  }
  const succeedLate = async (made: object) =>
    engine.http
      .post(await reportLate(made))
      .send({})
      .expect(200);

  async function draft({ customerId }: Story, amount: number): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    return (await create('invoices', { customer_id: customerId, lines })).id;
  }
  const finalize = async (id: string): Promise<Invoice> =>
    (await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200)).body as Invoice;
  const bill = async (story: Story, amount: number): Promise<Invoice> =>
    finalize(await draft(story, amount));
  const pay = async (story: Story, invoice_id: string | null, amount: number, token = 'ok') =>
    (
      await create('payments', {
        customer_id: story.customerId,
        amount,
        currency: 'USD',
        payment_method_id: `pm_sandbox_${token}`,
        ...(invoice_id !== null && { invoice_id }),
      })
    ).id;
  const credit = (
    { id: invoice_id, lines: [line] }: Invoice,
    amount: number,
  ): Promise<Identified> =>
    create('credit-notes', {
      invoice_id,
      lines: [{ invoice_line_id: line?.id, amount }],
      reason: 'Late',
      settle: 'credit',
    });

  /** Returns the balance and what is reserved of it, after checking the books. */
  async function balanceOf(story: Story): Promise<readonly [number, number]> {
    await story.verify();
    const { body } = await engine.http.get(`/v1/customers/${story.customerId}/balance`).expect(200);
    const { balance, reserved } = body as { balance: number; reserved: number };
    return [balance, reserved];
  }

  const exceeds = (available: number) => ({
    status: 422,
    code: 'refund_amount_exceeds_refundable',
    refundable_amount: available,
  });

  const refundable = (default_amount: number, refundable_amount: number) => ({
    currency: 'USD',
    default_amount,
    refundable_amount,
  });

  it('takes the credit of a credit note from the balance, after what the invoice holds', async () => {
    const story = await begin();
    const invoice = await bill(story, 3_000);
    const payment = await pay(story, invoice.id, 3_000);
    const note = await credit(invoice, 1_000);
    expect(await refund(payment, 3_001)).toMatchObject(exceeds(3_000));
    expect(await refund(payment, 2_000)).toMatchObject({ status: 'succeeded' });
    expect(await balanceOf(story)).toEqual([1_000, 0]);
    expect(await refund(payment, 400)).toMatchObject({ status: 'succeeded' });
    expect(await balanceOf(story)).toEqual([600, 0]);
    const { body } = await engine.http.post(`/v1/credit-notes/${note.id}/void`).send({});
    expect(body).toMatchObject({ code: 'credit_note_settled' });
    expect(await refund(payment, 601)).toMatchObject(exceeds(600));
    expect(await refund(payment)).toMatchObject(exceeds(600));
    expect(await refund(payment, 600)).toMatchObject({ status: 'succeeded' });
    expect(await balanceOf(story)).toEqual([0, 0]);
    expect(await refund(payment)).toMatchObject(exceeds(0));
  });

  it('is offered up to the largest amount, with and without the credit of notes', async () => {
    const story = await begin();
    const invoice = await bill(story, 2_900);
    const payment = await pay(story, invoice.id, 2_900);
    const read = async () =>
      (await engine.http.get(`/v1/refunds/payment/${payment}/refundable`).expect(200))
        .body as object;
    expect(await read()).toEqual(refundable(2_900, 2_900));
    await credit(invoice, 2_000);
    expect(await read()).toEqual(refundable(900, 2_900));
    await bill(story, 1_500);
    expect(await read()).toEqual(refundable(900, 1_400));
    expect(await refund(payment, 1_401)).toMatchObject(exceeds(1_400));
    expect(await refund(payment)).toMatchObject({ amount: 900 });
    expect(await read()).toEqual(refundable(0, 500));
    expect(await refund(payment, 500)).toMatchObject({ status: 'succeeded' });
    expect(await read()).toEqual(refundable(0, 0));
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it('is not offered for a failed payment', async () => {
    const payment = await pay(await begin(), null, 1_000, 'declined');
    const { body } = await engine.http.get(`/v1/refunds/payment/${payment}/refundable`).expect(200);
    expect(body).toEqual(refundable(0, 0));
    const unknown = await engine.http.get(`/v1/refunds/payment/${UNKNOWN}/refundable`).expect(404);
    expect(unknown.body).toMatchObject({ code: 'payment_not_found' });
  });

  it('without an amount leaves the credit alone', async () => {
    const story = await begin();
    const invoice = await bill(story, 3_000);
    const payment = await pay(story, invoice.id, 3_000);
    await credit(invoice, 1_000);
    expect(await refund(payment)).toMatchObject({ status: 'succeeded', amount: 2_000 });
    expect(await balanceOf(story)).toEqual([1_000, 0]);
    expect(await refund(payment)).toMatchObject(exceeds(1_000));
    expect(await balanceOf(story)).toEqual([1_000, 0]);
  });

  it('gives back what invoices have not used of it', async () => {
    const story = await begin();
    const invoice = await bill(story, 3_000);
    const payment = await pay(story, invoice.id, 3_000);
    await credit(invoice, 1_000);
    expect(await bill(story, 700)).toMatchObject({ credit_applied: 700, amount_due: 0 });
    expect(await refund(payment, 2_301)).toMatchObject(exceeds(2_300));
    expect(await refund(payment, 2_300)).toMatchObject({ status: 'succeeded' });
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it('gives back credit of an invoice that credit of the payment had paid', async () => {
    const story = await begin();
    const payment = await pay(story, null, 1_000);
    const invoice = await bill(story, 1_000);
    expect(invoice).toMatchObject({ status: 'paid', credit_applied: 1_000 });
    expect(await refund(payment)).toMatchObject(exceeds(0));
    await credit(invoice, 400);
    expect(await refund(payment, 401)).toMatchObject(exceeds(400));
    expect(await refund(payment, 400)).toMatchObject({ status: 'succeeded' });
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it('gives back through each payment at most its amount, and its own credit first', async () => {
    const story = await begin();
    const invoice = await bill(story, 1_000);
    const first = await pay(story, invoice.id, 400);
    const second = await pay(story, invoice.id, 600);
    const ahead = await pay(story, null, 300);
    await credit(invoice, 1_000);
    expect(await refund(ahead, 301)).toMatchObject(exceeds(300));
    expect(await refund(first, 401)).toMatchObject(exceeds(400));
    expect(await refund(ahead)).toMatchObject({ amount: 300 });
    expect(await balanceOf(story)).toEqual([1_000, 0]);
    expect(await refund(second, 600)).toMatchObject({ amount: 600 });
    expect(await refund(first, 400)).toMatchObject({ amount: 400 });
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it('reserves the credit until the outcome, and frees it if the refund fails', async () => {
    const story = await begin();
    const invoice = await bill(story, 1_000);
    const payment = await pay(story, invoice.id, 1_000, 'refund_pending');
    await credit(invoice, 800);
    const [failing, succeeding] = [await refund(payment, 500), await refund(payment, 300)];
    expect(await balanceOf(story)).toEqual([800, 600]);
    expect(await refund(payment, 201)).toMatchObject(exceeds(200));
    expect(await bill(story, 900)).toMatchObject({ credit_applied: 200, amount_due: 700 });
    await settle(failing, 'failed');
    expect(await balanceOf(story)).toEqual([600, 300]);
    await settle(succeeding, 'succeeded');
    expect(await balanceOf(story)).toEqual([300, 0]);
    expect(await refund(payment, 500)).toMatchObject({ amount: 500 });
    expect(await balanceOf(story)).toEqual([300, 300]);
  });

  it.each(['pending', 'returned'])(
    'takes the credit again if it succeeds late, after it failed while %s',
    async (state) => {
      const story = await begin();
      const invoice = await bill(story, 3_000);
      const token = state === 'pending' ? 'refund_pending' : 'ok';
      const payment = await pay(story, invoice.id, 3_000, token);
      await credit(invoice, 2_500);
      const made = await refund(payment, 3_000);
      await report(made, RETURNED);
      expect(await balanceOf(story)).toEqual([2_500, 0]);
      const apply = await reportLate(made);
      await Promise.all([1, 2].map(() => engine.http.post(apply).send({}).expect(200)));
      expect(await balanceOf(story)).toEqual([0, 0]);
      await report(made, RETURNED);
      expect(await balanceOf(story)).toEqual([2_500, 0]);
      await succeedLate(made);
      expect(await balanceOf(story)).toEqual([0, 0]);
      expect(await refund(payment, 1)).toMatchObject(exceeds(0));
    },
  );

  it('takes what is left of the credit if it succeeds late', async () => {
    const story = await begin();
    const made: object[] = [];
    for (const amount of [1_000, 2_000]) {
      const invoice = await bill(story, amount);
      const payment = await pay(story, invoice.id, amount, 'refund_pending');
      await credit(invoice, amount);
      made.push(await refund(payment, amount));
    }
    for (const one of made) await settle(one, 'failed');
    expect(await bill(story, 1_200)).toMatchObject({ credit_applied: 1_200 });
    const [first = {}, second = {}] = made;
    await succeedLate(first);
    expect(await balanceOf(story)).toEqual([800, 0]);
    await succeedLate(second);
    expect(await balanceOf(story)).toEqual([0, 0]);
    await report(second, RETURNED);
    expect(await balanceOf(story)).toEqual([800, 0]);
  });

  it('leaves other credit alone if it succeeds late and its payment has the amount', async () => {
    const story = await begin();
    const [own, other] = [await bill(story, 1_000), await bill(story, 1_000)];
    const payment = await pay(story, own.id, 1_000, 'refund_pending');
    await pay(story, other.id, 1_000);
    await credit(other, 600);
    const made = await refund(payment, 1_000);
    await settle(made, 'failed');
    await succeedLate(made);
    expect(await balanceOf(story)).toEqual([600, 0]);
  });

  it('takes used credit of its payment from notes if it succeeds late', async () => {
    const story = await begin();
    const payment = await pay(story, null, 1_000, 'refund_pending');
    const invoice = await bill(story, 400);
    await credit(invoice, 300);
    const made = await refund(payment, 900);
    await settle(made, 'failed');
    expect(await balanceOf(story)).toEqual([900, 0]);
    await succeedLate(made);
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it('takes the same credit if it succeeds late, after a dispute took money of its payment', async () => {
    const story = await begin();
    const invoice = await bill(story, 3_000);
    const payment = await pay(story, invoice.id, 3_000, 'refund_pending');
    await credit(invoice, 2_500);
    const made = await refund(payment, 1_000);
    expect(await balanceOf(story)).toEqual([2_500, 500]);
    await settle(made, 'failed');
    await recordDispute(engine, payment, {
      ...{ providerReference: `dp_${payment}`, status: 'lost', reason: null },
      ...{ amount: 1_000n, amountWithdrawn: 1_000n, amountReinstated: 0n },
      ...{ isRefundable: false, evidenceDueAt: null },
    });
    await succeedLate(made);
    expect(await balanceOf(story)).toEqual([2_000, 0]);
  });

  it('leaves credit of notes alone if it succeeds late, but was made at the provider', async () => {
    const story = await begin();
    const invoice = await bill(story, 1_000);
    const payment = await pay(story, invoice.id, 1_000, 'refund_pending');
    await credit(invoice, 800);
    const reference = `re_${payment}`;
    const found = { reference, refundId: null, amount: 900n, reason: null, outcome: PAID };
    await engine.app.get(ProviderRefundsService).record(payment, found, 0);
    const { body } = await engine.http.get(`/v1/refunds?payment_id=${payment}`).expect(200);
    const [made = {}] = (body as { data: object[] }).data;
    expect(made).toMatchObject({ source: 'provider', status: 'pending' });
    await report(made, RETURNED);
    expect(await balanceOf(story)).toEqual([800, 0]);
    await succeedLate(made);
    expect(await balanceOf(story)).toEqual([800, 0]);
  });

  it('and invoices at the same time spend the credit once', async () => {
    const story = await begin();
    const billed = [await bill(story, 1_000), await bill(story, 1_000), await bill(story, 1_000)];
    const payments: string[] = [];
    for (const { id } of billed) payments.push(await pay(story, id, 1_000));
    for (const invoice of billed) await credit(invoice, 1_000);
    const drafts: string[] = [];
    for (let made = 0; made < 6; made += 1) drafts.push(await draft(story, 300));
    const [refunds, invoices] = await Promise.all([
      Promise.all([...payments, ...payments].map((id) => refund(id, 400))),
      Promise.all(drafts.map(finalize)),
    ]);
    const given = refunds.filter((one) => 'status' in one && one.status === 'succeeded').length;
    const used = invoices.reduce((total, { credit_applied: applied }) => total + applied, 0);
    const left = 3_000 - given * 400 - used;
    expect(await balanceOf(story)).toEqual([left, 0]);
    for (const id of payments) {
      const { refundable_amount: rest } = (await refund(id, 1_001)) as {
        refundable_amount: number;
      };
      if (rest > 0) await refund(id, rest);
    }
    expect(await balanceOf(story)).toEqual([0, 0]);
  });

  it.each(['begins', 'succeeds late'])(
    'waits for other payments of its invoice before it locks its own when it %s, so that no refunds deadlock',
    async (step) => {
      const story = await begin();
      const invoice = await bill(story, 1_000);
      const first = await pay(story, invoice.id, 500);
      const second = await pay(story, invoice.id, 500, 'refund_pending');
      await credit(invoice, 100);
      const made = await refund(second, 100);
      await settle(made, 'failed');
      const apply = await reportLate(made);
      const other = new Client({ connectionString: engine.databaseUrl });
      await other.connect();
      const lock = (id: string) =>
        other.query('SELECT id FROM payment WHERE id = $1 FOR UPDATE NOWAIT', [id]);
      try {
        await other.query('BEGIN');
        await lock(first);
        const isNew = step === 'begins';
        const path = isNew ? `/v1/refunds/payment/${second}` : apply;
        const answer = Promise.resolve(engine.http.post(path).send(isNew ? { amount: 100 } : {}));
        await untilSessionsWait(engine.database);
        await lock(second);
        await other.query('COMMIT');
        expect((await answer).status).toBe(isNew ? 201 : 200);
      } finally {
        await other.end();
      }
    },
  );

  /** Returns a payment in advance whose credit was used, and a credit note that a refund of the payment pays out. */
  async function beginOfBoth(story: Story, noteFirst: boolean): Promise<readonly [string, string]> {
    const giveNote = async (rest: number): Promise<string> => {
      const invoice = await bill(story, 1_000);
      await pay(story, invoice.id, rest);
      return (await credit(invoice, 1_000)).id;
    };
    const payAhead = () => pay(story, null, 500, 'refund_pending');
    if (!noteFirst) return [await payAhead(), await giveNote(500)];
    const note = await giveNote(1_000);
    const { id } = await bill(story, 1_100);
    const payment = await payAhead();
    await bill(story, 300);
    await engine.http.post(`/v1/invoices/${id}/void`).send({}).expect(200);
    return [payment, note];
  }

  it.each(['begins', 'succeeds', 'fails'])('locks older credit first when it %s', async (step) => {
    const story = await begin();
    const isNew = step === 'begins';
    const [payment, note] = await beginOfBoth(story, isNew);
    const [older, newer] = isNew ? [note, payment] : [payment, note];
    const made = isNew ? null : await refund(payment, 400);
    const other = new Client({ connectionString: engine.databaseUrl });
    await other.connect();
    const lock = (source: string) =>
      other.query('SELECT FROM credit_grant WHERE source_id = $1 FOR UPDATE NOWAIT', [source]);
    try {
      await other.query('BEGIN');
      await lock(older);
      const outcome = step === 'fails' ? 'failed' : 'succeeded';
      const answer =
        made === null
          ? refund(payment, 400)
          : settle(made, outcome).then(({ body }) => body as object);
      await untilSessionsWait(engine.database);
      await lock(newer);
      await other.query('COMMIT');
      await answer;
    } finally {
      await other.end();
    }
    await story.verify();
  });

  it('and a renewal at the same time spend the credit once', async () => {
    const story = await begin();
    const plan = await story.plan(800);
    const invoice = await bill(story, 1_000);
    const payment = await pay(story, invoice.id, 1_000);
    await story.subscribe(plan, { collection: 'send_invoice' });
    await credit(invoice, 1_000);
    const [made] = await Promise.all([
      refund(payment, 1_000),
      story.advance('2026-04-02T00:00:00.000Z'),
    ]);
    const renewal = (await story.invoices()).at(-1);
    expect([200, 1_000]).toContain((await balanceOf(story))[0] + ('amount' in made ? 1_000 : 0));
    expect(renewal?.credit_applied).toBe('amount' in made ? 0 : 800);
  });

  it('is purged with the test clock of its customer', async () => {
    const story = await begin();
    const invoice = await bill(story, 1_000);
    const payment = await pay(story, invoice.id, 1_000);
    await credit(invoice, 500);
    expect(await refund(payment, 1_000)).toMatchObject({ amount: 1_000 });
    await engine.http.delete(`/v1/test-clocks/${story.clockId}`).expect(204);
    const [row] = await engine.database.query<{ left: number }>(
      'SELECT count(*)::int AS left FROM credit_payout WHERE payment_id = $1',
      [payment],
    );
    expect(row?.left).toBe(0);
  });
});
