import { Client } from 'pg';
import { recordDispute } from '../support/disputes';
import { verifyLedger } from '../support/ledger';
import { untilSessionsWait } from '../support/lock-waits';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';

interface Paid {
  readonly customer: string;
  readonly invoice: string;
  readonly line: string;
  readonly payment: string;
}

/** Returns the body of a refusal. A repeated request has its own id. */
function refusalOf({ body }: { readonly body: unknown }): object {
  return { ...(body as object), request_id: null };
}

/** An invoice of 1,000 without tax, paid through Stripe. */
describe('a credit note that is settled as a refund', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
  });

  afterAll(() => story.close());

  async function invoiced(customer: string): Promise<Omit<Paid, 'payment'>> {
    const invoice = await story.invoice(customer, 1_000);
    const { lines } = await story.get<{ lines: { id: string }[] }>(`/v1/invoices/${invoice}`);
    return { customer, invoice, line: lines[0]?.id ?? '' };
  }

  async function paid(token = 'pm_card_visa'): Promise<Paid> {
    const { customer } = await story.customerWith(token);
    const sold = await invoiced(customer);
    return { ...sold, payment: (await story.post(`/v1/invoices/${sold.invoice}/pay`)).id };
  }

  /** Pays 400 of the invoice: a credit note lowers it while the payment begins, and is void once it is pending. */
  async function paidInPart(): Promise<Paid> {
    const { customer } = await story.customerWith('pm_card_authenticationRequired');
    const sold = await invoiced(customer);
    const { body } = await note(sold, 600, 'credit');
    const { id: payment } = await story.post(`/v1/invoices/${sold.invoice}/pay`);
    await story.engine.http
      .post(`/v1/credit-notes/${idOf(body)}/void`)
      .send({})
      .expect(200);
    story.stripe.authenticate(story.intentOf(payment), true);
    await story.notified();
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_applied: 400 });
    return { ...sold, payment };
  }

  /** Pays 400 and then 600 of the invoice. */
  async function paidTwice(): Promise<Paid & { readonly second: string }> {
    const sold = await paidInPart();
    const method = { provider: 'stripe', token: 'pm_card_visa' };
    const { id } = await story.post(`/v1/customers/${sold.customer}/payment-methods`, method);
    const choice = { payment_method_id: id };
    const { id: second } = await story.post(`/v1/invoices/${sold.invoice}/pay`, choice);
    expect(await story.get(`/v1/payments/${second}`)).toMatchObject({ amount_applied: 600 });
    return { ...sold, second };
  }

  const idOf = (body: unknown): string => (body as { id: string }).id;

  const noteOf = ({ line }: Pick<Paid, 'line'>, amount: number) => ({
    reason: 'Agreed.',
    lines: [{ invoice_line_id: line, amount }],
  });

  const note = (
    { invoice, line }: Pick<Paid, 'invoice' | 'line'>,
    amount: number,
    settle = 'refund',
    key?: string,
  ) => {
    const request = story.engine.http.post('/v1/credit-notes');
    if (key !== undefined) request.set('Idempotency-Key', key);
    return request.send({ invoice_id: invoice, settle, ...noteOf({ line }, amount) });
  };

  const refund = (payment: string, body: object = {}) =>
    story.engine.http.post(`/v1/refunds/payment/${payment}`).send(body);

  /** Opens a dispute, and returns its id at Stripe. */
  async function dispute(payment: string, amount?: number): Promise<string> {
    const { id } = story.stripe.openDispute(story.intentOf(payment), 'fraudulent', amount);
    await story.notified();
    return id;
  }

  async function lose(payment: string, amount?: number): Promise<void> {
    story.stripe.closeDispute(await dispute(payment, amount), 'lost');
    await story.notified();
  }

  const notesOf = async ({ invoice }: Pick<Paid, 'invoice'>) =>
    (
      await story.get<{ data: { id: string; status: string }[] }>(
        `/v1/credit-notes?invoice_id=${invoice}`,
      )
    ).data.filter(({ status }) => status === 'issued');

  async function accountsOf({ customer }: Pick<Paid, 'customer'>) {
    const path = `/v1/ledger/accounts?customer_id=${customer}`;
    const { data } = await story.get<{ data: { account: string; balance: string }[] }>(path);
    return Object.fromEntries(data.map(({ account, balance }) => [account, balance]));
  }

  const tooMuch = (most: number) => ({
    status: 422,
    code: 'credit_given_back_already',
    creditable_total: most,
  });

  it.each(['refund', 'credit'])(
    'or as a %s is refused after its payment was lost',
    async (settle) => {
      const sold = await paid();
      await lose(sold.payment);
      const key = `lost-${sold.invoice}`;
      const answers = await Promise.all([
        note(sold, 1_000, settle, key),
        note(sold, 1_000, settle, key),
        note(sold, 1, settle),
      ]);
      for (const { body } of answers) expect(body).toMatchObject(tooMuch(0));
      expect(refusalOf(answers[0])).toEqual(refusalOf(answers[1]));
      expect(await notesOf(sold)).toEqual([]);
      expect(await accountsOf(sold)).toMatchObject({ revenue: '-1000', dispute_losses: '1000' });
      expect(await accountsOf(sold)).not.toHaveProperty('refunds');
      const answer = await refund(sold.payment, {
        credit_note: { reason: 'Agreed.', lines: [{ invoice_line_id: sold.line, amount: 100 }] },
      });
      expect(answer.body).toMatchObject(tooMuch(0));
    },
  );

  it('takes what the bank left of a payment that was lost in part', async () => {
    const sold = await paid();
    await lose(sold.payment, 300);
    expect((await note(sold, 701)).body).toMatchObject({
      ...tooMuch(700),
      detail: expect.stringContaining(
        '1000 were charged, 300 were lost in disputes without a credit note. Lower the lines until they total at most 700 with tax.',
      ) as unknown,
    });
    const answers = await Promise.all([note(sold, 500), note(sold, 500)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect((await note(sold, 201)).body).toMatchObject(tooMuch(200));
    expect((await note(sold, 200)).body).toMatchObject({ to_refund: 200, credited_to_balance: 0 });
    expect(await story.get(`/v1/payments/${sold.payment}`)).toMatchObject({ amount_lost: 300 });
    expect(await accountsOf(sold)).toMatchObject({ refunds: '-700', dispute_losses: '300' });
  });

  it('takes what is left of two payments of which one was lost', async () => {
    const sold = await paidTwice();
    await lose(sold.payment);
    expect((await note(sold, 601)).body).toMatchObject(tooMuch(600));
    expect((await refund(sold.payment, { credit_note: noteOf(sold, 600) })).body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 0,
    });
    expect(await notesOf(sold)).toEqual([]);
    expect((await note(sold, 600)).body).toMatchObject({ to_refund: 600 });
    expect((await refund(sold.second)).body).toMatchObject({ amount: 600, status: 'succeeded' });
    expect(await accountsOf(sold)).toMatchObject({ refunds: '0', dispute_losses: '400' });
    expect((await note(sold, 1)).body).toMatchObject(tooMuch(0));
  });

  it('documents a refund that was made before the payment was lost', async () => {
    const sold = await paid();
    expect((await refund(sold.payment, { amount: 100 })).body).toMatchObject({ amount: 100 });
    await lose(sold.payment, 1_000);
    expect((await note(sold, 101)).body).toMatchObject(tooMuch(100));
    expect((await note(sold, 100)).body).toMatchObject({ to_refund: 100 });
    expect(await accountsOf(sold)).toMatchObject({ refunds: '0' });
  });

  it('can be voided if its payment is lost before the refund', async () => {
    const sold = await paid();
    const { body } = await note(sold, 800).expect(201);
    await lose(sold.payment);
    expect((await refund(sold.payment, { amount: 800 })).body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 0,
    });
    expect((await note(sold, 200)).body).toMatchObject(tooMuch(0));
    await story.engine.http
      .post(`/v1/credit-notes/${idOf(body)}/void`)
      .send({})
      .expect(200);
    expect((await note(sold, 1)).body).toMatchObject(tooMuch(0));
    expect(await accountsOf(sold)).toMatchObject({ refunds: '0', revenue: '-1000' });
  });

  it('is refused while its payment is disputed, except for what was refunded before', async () => {
    const sold = await paid();
    await refund(sold.payment, { amount: 300 }).expect(201);
    const reference = await dispute(sold.payment, 700);
    const { body } = await note(sold, 301);
    expect(body).toMatchObject({ status: 409, code: 'payment_disputed' });
    expect(await notesOf(sold)).toEqual([]);
    await note(sold, 300).expect(201);
    story.stripe.closeDispute(reference, 'won');
    await story.notified();
    await note(sold, 700).expect(201);
    expect((await refund(sold.payment)).body).toMatchObject({ amount: 700 });
    expect(await accountsOf(sold)).toMatchObject({ refunds: '0', revenue: '0' });
  });

  it('takes what an undisputed payment carries', async () => {
    const sold = await paidTwice();
    await dispute(sold.payment);
    expect((await note(sold, 601)).body).toMatchObject({ code: 'payment_disputed' });
    await note(sold, 600).expect(201);
  });

  describe('or as credit, while a dispute is open,', () => {
    const disputed = { status: 409, code: 'payment_disputed' };

    it('is refused for the disputed payment until the dispute is won', async () => {
      const sold = await paid();
      const reference = await dispute(sold.payment, 300);
      const key = `disputed-${sold.invoice}`;
      const answers = await Promise.all([
        note(sold, 1_000, 'credit', key),
        note(sold, 1_000, 'credit', key),
        note(sold, 1, 'credit'),
      ]);
      for (const { body } of answers) expect(body).toMatchObject(disputed);
      expect(refusalOf(answers[0])).toEqual(refusalOf(answers[1]));
      expect(await notesOf(sold)).toEqual([]);
      expect(await accountsOf(sold)).not.toHaveProperty('customer_credit');
      story.stripe.closeDispute(reference, 'won');
      await story.notified();
      expect((await note(sold, 1_000, 'credit')).body).toMatchObject({
        credited_to_balance: 1_000,
      });
    });

    it('takes what another payment carries, and no more once the dispute is lost', async () => {
      const sold = await paidTwice();
      const reference = await dispute(sold.payment);
      expect((await note(sold, 601, 'credit')).body).toMatchObject(disputed);
      await note(sold, 600, 'credit').expect(201);
      expect((await note(sold, 1, 'credit')).body).toMatchObject(disputed);
      story.stripe.closeDispute(reference, 'lost');
      await story.notified();
      expect((await note(sold, 1, 'credit')).body).toMatchObject(tooMuch(0));
      expect(await accountsOf(sold)).toMatchObject({
        customer_credit: '-600',
        dispute_losses: '400',
      });
    });

    it('lowers what the invoice owes', async () => {
      const sold = await paidInPart();
      const reference = await dispute(sold.payment);
      expect((await note(sold, 601, 'credit')).body).toMatchObject(disputed);
      await note(sold, 600, 'credit').expect(201);
      expect((await note(sold, 1, 'credit')).body).toMatchObject(disputed);
      story.stripe.closeDispute(reference, 'lost');
      await story.notified();
      expect(await accountsOf(sold)).toMatchObject({ dispute_losses: '400' });
    });

    it.each(['refund', 'credit'])(
      'returns no credit of a disputed payment that the invoice used: %s',
      async (settle) => {
        const { customer } = await story.customerWith('pm_card_visa');
        const { id: prepaid } = await story.pay(customer, { amount: 300 });
        const sold = await invoiced(customer);
        await story.post(`/v1/invoices/${sold.invoice}/pay`);
        const reference = await dispute(prepaid);
        expect((await note(sold, 701, settle)).body).toMatchObject(disputed);
        await note(sold, 700, settle).expect(201);
        expect((await note(sold, 1, settle)).body).toMatchObject(disputed);
        story.stripe.closeDispute(reference, 'won');
        await story.notified();
        await note(sold, 300, settle).expect(201);
      },
    );
  });

  describe('or as credit, before a refund, while a dispute is open,', () => {
    const balanceOf = async ({ customer }: Pick<Paid, 'customer'>) =>
      (await story.get<{ balance: number }>(`/v1/customers/${customer}/balance`)).balance;

    /** An invoice of 1,000, of which 400 are disputed and 600 are paid by the payment `second`. */
    async function disputedInPart(kind: string) {
      if (kind === 'another payment') {
        const sold = await paidTwice();
        return { ...sold, reference: await dispute(sold.payment) };
      }
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer, { amount: 400 });
      const sold = await invoiced(customer);
      const { id: second } = await story.post(`/v1/invoices/${sold.invoice}/pay`);
      return { ...sold, payment, second, reference: await dispute(payment) };
    }

    describe.each(['another payment', 'a payment whose credit the invoice used'])(
      'of %s',
      (kind) => {
        it('leaves what the dispute may take: the refund pays out the credit of the note', async () => {
          const sold = await disputedInPart(kind);
          await note(sold, 600, 'credit').expect(201);
          const answers = await Promise.all([
            refund(sold.second, { amount: 400 }),
            refund(sold.second, { amount: 400 }),
          ]);
          expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
          expect(await balanceOf(sold)).toBe(200);
          story.stripe.closeDispute(sold.reference, 'lost');
          await story.notified();
          expect(await balanceOf(sold)).toBe(200);
          expect((await refund(sold.second, { amount: 201 })).body).toMatchObject({
            code: 'refund_amount_exceeds_refundable',
            refundable_amount: 200,
          });
        });

        it('leaves what the dispute has taken before the refund', async () => {
          const sold = await disputedInPart(kind);
          await note(sold, 600, 'credit').expect(201);
          story.stripe.closeDispute(sold.reference, 'lost');
          await story.notified();
          expect((await refund(sold.second)).body).toMatchObject({
            code: 'refund_amount_exceeds_refundable',
            refundable_amount: 600,
          });
          expect((await refund(sold.second, { amount: 600 })).status).toBe(201);
          expect(await balanceOf(sold)).toBe(0);
        });

        it('refuses the refund if the credit was used, until the dispute is won', async () => {
          const sold = await disputedInPart(kind);
          await note(sold, 600, 'credit').expect(201);
          await story.invoice(sold.customer, 600);
          for (const body of [{}, { amount: 1 }, { amount: 400 }]) {
            expect((await refund(sold.second, body)).body).toMatchObject({
              status: 409,
              code: 'payment_disputed',
              detail: expect.stringContaining(sold.payment) as unknown,
            });
          }
          expect((await refund(sold.second, { amount: 401 })).body).toMatchObject({
            code: 'refund_amount_exceeds_refundable',
            refundable_amount: 0,
          });
          story.stripe.closeDispute(sold.reference, 'won');
          await story.notified();
          expect((await refund(sold.second)).body).toMatchObject({ amount: 400 });
        });

        it('takes without a note all of the payment that is not disputed', async () => {
          const sold = await disputedInPart(kind);
          expect((await refund(sold.second)).body).toMatchObject({ amount: 600 });
          expect((await note(sold, 1, 'credit')).body).toMatchObject({ code: 'payment_disputed' });
        });
      },
    );
  });

  it.each(['note', 'loss'])(
    'and the loss of its payment wait for each other, the %s first',
    async (first) => {
      const sold = await paid();
      const works = {
        note: async () => (await note(sold, 1_000)).body as object,
        loss: () =>
          recordDispute(story.engine, sold.payment, {
            providerReference: `dp_${sold.payment}`,
            status: 'lost',
            reason: 'fraudulent',
            amount: 1_000n,
            amountWithdrawn: 1_000n,
            amountReinstated: 0n,
            isRefundable: false,
            evidenceDueAt: null,
          }),
      };
      const holder = new Client({ connectionString: story.engine.databaseUrl });
      await holder.connect();
      const running: Promise<unknown>[] = [];
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT FROM payment WHERE id = $1 FOR UPDATE', [sold.payment]);
        for (const name of first === 'note'
          ? (['note', 'loss'] as const)
          : (['loss', 'note'] as const)) {
          running.push(works[name]());
          await untilSessionsWait(story.engine.database, running.length);
        }
        await holder.query('ROLLBACK');
      } finally {
        await holder.end();
      }
      const answers = await Promise.all(running);
      expect(await story.get(`/v1/payments/${sold.payment}`)).toMatchObject({ amount_lost: 1_000 });
      if (first === 'loss') expect(answers[1]).toMatchObject(tooMuch(0));
      else expect(answers[0]).toMatchObject({ status: 'issued', to_refund: 1_000 });
      expect((await refund(sold.payment, { amount: 1 })).body).toMatchObject({
        code: 'refund_amount_exceeds_refundable',
      });
      for (const { id } of await notesOf(sold)) {
        await story.engine.http.post(`/v1/credit-notes/${id}/void`).send({}).expect(200);
      }
      expect(await accountsOf(sold)).toMatchObject({ revenue: '-1000', dispute_losses: '1000' });
    },
  );

  it('stays with a refund that the provider refuses for a dispute that is not known here, and can be voided', async () => {
    const sold = await paid();
    story.stripe.webhooks.fate = () => 'lose';
    const { id: reference } = story.stripe.openDispute(story.intentOf(sold.payment));
    const body = { idempotencyKey: `refund-${sold.payment}`, credit_note: noteOf(sold, 1_000) };
    const answers = await Promise.all([refund(sold.payment, body), refund(sold.payment, body)]);
    for (const answer of answers) {
      expect(answer.body).toMatchObject({ status: 'failed', failure_code: 'refund_declined' });
    }
    const notes = await notesOf(sold);
    expect(notes).toHaveLength(1);
    story.stripe.webhooks.fate = () => 'deliver';
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    await story.engine.http
      .post(`/v1/credit-notes/${notes[0]?.id ?? ''}/void`)
      .send({})
      .expect(200);
    expect((await note(sold, 1)).body).toMatchObject(tooMuch(0));
    expect(await accountsOf(sold)).toMatchObject({
      revenue: '-1000',
      dispute_losses: '1000',
      refunds: '0',
    });
  });

  it('whose refund is pending when its payment is lost can be voided once the refund has failed', async () => {
    const sold = await paid('pm_card_pendingRefund');
    const { body } = await refund(sold.payment, { credit_note: noteOf(sold, 1_000) });
    expect(body).toMatchObject({ status: 'pending' });
    await lose(sold.payment);
    const [issued] = await notesOf(sold);
    const path = `/v1/credit-notes/${issued?.id ?? ''}/void`;
    expect((await story.engine.http.post(path).send({})).body).toMatchObject({
      code: 'credit_note_settled',
    });
    for (const { id, metadata } of story.stripe.account.refunds.values()) {
      if (metadata?.['refund_id'] === idOf(body)) story.stripe.failRefund(id);
    }
    await story.notified();
    expect(await story.get(`/v1/refunds/${idOf(body)}`)).toMatchObject({ status: 'failed' });
    await story.engine.http.post(path).send({}).expect(200);
    expect((await note(sold, 1)).body).toMatchObject(tooMuch(0));
    expect(await accountsOf(sold)).toMatchObject({
      revenue: '-1000',
      dispute_losses: '1000',
      refunds: '0',
    });
  });
});
