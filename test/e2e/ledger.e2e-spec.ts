import { postInvoice, postPayment, postVoid, type Posting } from '../../src/core/ledger';
import { LedgerChecks, LedgerService } from '../../src/modules/ledger';
import { newId } from '../../src/platform/ids';
import { createCustomer, createPayment } from '../support/billing';
import { postingsOf, unpost, verifyLedger } from '../support/ledger';
import { startTestApp, type TestApp } from '../support/test-app';

describe('the ledger', () => {
  let engine: TestApp;
  let customer: string;

  beforeAll(async () => {
    engine = await startTestApp();
    customer = await createCustomer(engine);
  });

  afterAll(() => engine.close());

  const CHECKS = [
    'every_transaction_sums_to_zero',
    'every_posting_has_its_transaction',
    'credit_balances_equal_customer_credit',
    'payments_not_applied_equal_their_credits',
    'payments_less_refunds_equal_cash_clearing',
  ];
  const ledger = () => engine.app.get(LedgerService);
  const read = async (path: string) => (await engine.http.get(path)).body as object;
  const balances = async (of: string) => {
    const { data } = (await read(`/v1/ledger/accounts?customer_id=${of}`)) as {
      data: { account: string; currency: string; balance: string }[];
    };
    return data.map(({ account, currency, balance }) => `${account} ${currency} ${balance}`);
  };
  const pay = async (fields: object = {}) => {
    const of = await createCustomer(engine);
    const payment = await createPayment(engine, { customer_id: of, ...fields });
    return { of, payment };
  };
  const invoice = (netMinor: bigint, taxMinor = 0n) =>
    postInvoice({
      currency: 'USD',
      lines: [{ netMinor, discountMinor: 0n, taxMinor, isDeferred: false }],
      creditAppliedMinor: 0n,
    });
  const post = (
    transaction: ReturnType<typeof postInvoice>,
    sourceId: string,
    customerId = customer,
  ) =>
    engine.database.transaction(() =>
      ledger().post(transaction, {
        sourceId,
        customerId,
        occurredAt: engine.clock.now(),
      }),
    );

  it('is empty at first, and valid', async () => {
    expect(await read('/v1/ledger/accounts')).toEqual({ data: [], next_cursor: null });
    expect(await read('/v1/ledger/transactions')).toEqual({ data: [], next_cursor: null });
    expect(await verifyLedger(engine)).toEqual({
      ok: true,
      checks: expect.arrayContaining(
        CHECKS.map((name) => ({ name, ok: true, offending: [] })),
      ) as object[],
      last_reconciliation: null,
    });
  });

  describe('records', () => {
    it('a payment that succeeded, with every field the API shows: without an invoice it is credit', async () => {
      const { of, payment } = await pay();
      const { data } = (await read(`/v1/ledger/transactions?source_id=${payment}`)) as {
        data: object[];
      };
      expect(data).toEqual([
        {
          id: expect.stringMatching(/^ltx_/) as string,
          kind: 'payment',
          source_id: payment,
          customer_id: of,
          currency: 'USD',
          postings: [
            { account: 'cash_clearing:sandbox', amount: 10_000 },
            { account: 'customer_credit', amount: -10_000 },
          ],
          occurred_at: '2026-03-01T09:30:00.000Z',
        },
      ]);
      expect(await balances(of)).toEqual([
        'cash_clearing:sandbox USD 10000',
        'customer_credit USD -10000',
      ]);
    });

    it('a payment through its own provider, in its own currency', async () => {
      const { of } = await pay({ provider: 'manual', currency: 'JPY', amount: 7 });
      expect(await balances(of)).toEqual(['cash_clearing:manual JPY 7', 'customer_credit JPY -7']);
    });

    it.each(['pm_sandbox_declined', 'pm_sandbox_pending'])(
      'no payment that did not succeed (%s)',
      async (method) => {
        const { payment } = await pay({ payment_method_id: method });
        expect(await postingsOf(engine, payment)).toEqual([]);
      },
    );

    it('a payment that was pending, when it succeeds', async () => {
      const { payment } = await pay({ payment_method_id: 'pm_sandbox_pending' });
      const settle = () =>
        engine.http.post(`/v1/sandbox/payments/${payment}/settle`).send({ outcome: 'succeeded' });
      await settle();
      await settle();
      expect(await postingsOf(engine, payment)).toHaveLength(1);
    });

    it('each refund that succeeded', async () => {
      const { of, payment } = await pay();
      const refund = (amount: number) =>
        engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount });
      const first = (await refund(1_500)).body as { id: string };
      await refund(500);
      expect(await postingsOf(engine, first.id)).toEqual([
        ['refund', { customer_credit: 1_500, 'cash_clearing:sandbox': -1_500 }],
      ]);
      expect(await balances(of)).toEqual([
        'cash_clearing:sandbox USD 8000',
        'customer_credit USD -8000',
      ]);
    });

    it('a fully refunded payment: neither money nor credit is left', async () => {
      const { of, payment } = await pay();
      await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 4_000 });
      await engine.http.post(`/v1/refunds/payment/${payment}`).send({});
      expect(await balances(of)).toEqual(['cash_clearing:sandbox USD 0', 'customer_credit USD 0']);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('concurrent payments and refunds, and stays valid', async () => {
      const made = await Promise.all(Array.from({ length: 4 }, () => pay()));
      await Promise.all(
        made.flatMap(({ payment }) =>
          [3_000, 3_000, 3_000, 3_000].map((amount) =>
            engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount }),
          ),
        ),
      );
      for (const { of } of made) {
        expect(await balances(of)).toContain('cash_clearing:sandbox USD 1000');
      }
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });
  });

  it('shows sums beyond the range of JSON numbers', async () => {
    const of = await createCustomer(engine);
    const largest = { customer_id: of, amount: 9_007_199_254_740_991, currency: 'CLP' };
    await createPayment(engine, largest);
    await createPayment(engine, largest);
    expect(await balances(of)).toEqual([
      'cash_clearing:sandbox CLP 18014398509481982',
      'customer_credit CLP -18014398509481982',
    ]);
  });

  it('lists postings beyond the range of JSON numbers, which are rounded', async () => {
    const of = await createCustomer(engine);
    const source = newId('inv');
    const transaction = invoice(2n ** 53n + 1n);
    await post(transaction, source, of);
    const path = `/v1/ledger/transactions?source_id=${source}`;
    expect(await read(path)).toMatchObject({
      data: [
        {
          postings: [
            { account: 'accounts_receivable', amount: 2 ** 53 },
            { account: 'revenue', amount: -(2 ** 53) },
          ],
        },
      ],
    });
    const { text } = await engine.http.get(path).set('Accept', 'text/csv');
    expect(text).toContain('revenue,,9007199254740992');
    // The ledger stays valid for the other tests.
    await post(postVoid('USD', [transaction]), source, of);
  });

  it('lists transactions newest first, page by page, by customer and by source', async () => {
    const of = await createCustomer(engine);
    const made: string[] = [];
    for (const amount of [1, 2, 3]) {
      made.push(await createPayment(engine, { customer_id: of, amount }));
    }
    const path = `/v1/ledger/transactions?customer_id=${of}`;
    const first = (await read(`${path}&limit=2`)) as {
      data: { source_id: string }[];
      next_cursor: string;
    };
    const second = (await read(`${path}&limit=2&cursor=${first.next_cursor}`)) as typeof first;
    expect(second.next_cursor).toBeNull();
    expect([...first.data, ...second.data].map((each) => each.source_id)).toEqual(made.reverse());
    expect(await read(`${path}&source_id=${customer}`)).toMatchObject({ data: [] });
  });

  it.each([
    'accounts?currency=USD',
    'accounts?customer_id=',
    'transactions?limit=0',
    'transactions?cursor=nope',
    'transactions?kind=gift',
    'transactions?source_id=a&source_id=b',
  ])('refuses the query %s', async (query) => {
    expect((await engine.http.get(`/v1/ledger/${query}`)).status).toBe(400);
  });

  describe('accepts', () => {
    it('each kind of transaction of a source once', async () => {
      const id = newId('inv');
      await post(invoice(1_000n), id);
      await expect(post(invoice(1_000n), id)).rejects.toThrow(`${id} posts its invoice_finalized`);
      const posted = await ledger().transactionsOf(id);
      await post(postVoid('USD', posted), id);
      expect(await postingsOf(engine, id)).toEqual([
        ['invoice_finalized', { accounts_receivable: 1_000, revenue: -1_000 }],
        ['void', { accounts_receivable: -1_000, revenue: 1_000 }],
      ]);
    });

    it('no transaction for a zero invoice', async () => {
      const id = newId('inv');
      expect(await post(invoice(0n), id)).toBeNull();
      expect(await ledger().transactionsOf(id)).toEqual([]);
    });

    it('no transaction outside a database transaction', async () => {
      const source = { sourceId: 'x', customerId: customer, occurredAt: engine.clock.now() };
      await expect(ledger().post(invoice(1n), source)).rejects.toThrow('inside a transaction');
    });

    it('no transaction that does not balance', async () => {
      const postings: Posting[] = [{ account: 'revenue', amountMinor: 1n }];
      const broken = { ...invoice(1n), postings };
      await expect(post(broken, newId('inv'))).rejects.toThrow('balances');
    });
  });

  describe('is protected by the database,', () => {
    const insert = (id: string, amounts: readonly number[]) =>
      engine.database.transaction(async () => {
        await engine.database.query(
          `INSERT INTO ledger_transaction (id, kind, source_id, customer_id, currency, occurred_at)
           VALUES ($1, 'payment', $1, $2, 'USD', now())`,
          [id, customer],
        );
        for (const [index, amount] of amounts.entries()) {
          await engine.database.query(`INSERT INTO ledger_posting VALUES ($1, $2, 'revenue', $3)`, [
            id,
            index + 1,
            amount,
          ]);
        }
      });

    it.each([[[]], [[1]], [[1, -2]], [[1, 1, -1]], [[-5]]])(
      'which refuses to commit a transaction of %j',
      async (amounts) => {
        const id = newId('ltx');
        await expect(insert(id, amounts)).rejects.toThrow('does not balance');
        expect(
          await engine.database.query('SELECT 1 FROM ledger_transaction WHERE id = $1', [id]),
        ).toEqual([]);
      },
    );

    it('which refuses zero postings, and a further posting that breaks the balance', async () => {
      await expect(insert(newId('ltx'), [0])).rejects.toThrow('ledger_posting_amount_check');
      const id = newId('ltx');
      await insert(id, [1, -1]);
      await expect(
        engine.database.query(`INSERT INTO ledger_posting VALUES ($1, 3, 'revenue', 1)`, [id]),
      ).rejects.toThrow('does not balance');
      // Also where the transaction makes another one.
      await expect(
        engine.database.transaction(async () => {
          await insert(newId('ltx'), [1, -1]);
          await engine.database.query(`INSERT INTO ledger_posting VALUES ($1, 3, 'revenue', 1)`, [
            id,
          ]);
        }),
      ).rejects.toThrow('does not balance');
      await expect(
        engine.database.query(`INSERT INTO ledger_posting VALUES ('ltx_x', 1, 'revenue', 1)`),
      ).rejects.toThrow(/ledger_posting_transaction_id_fkey|does not balance/);
    });

    it.each([
      'UPDATE ledger_transaction SET currency = currency',
      'UPDATE ledger_posting SET amount_minor = amount_minor * 2',
      'DELETE FROM ledger_transaction',
      'DELETE FROM ledger_posting',
      'TRUNCATE ledger_posting',
      'TRUNCATE ledger_transaction CASCADE',
      // Even when no row matches.
      'UPDATE ledger_posting SET amount_minor = 1 WHERE false',
    ])('which refuses: %s', async (statement) => {
      await expect(engine.database.query(statement)).rejects.toThrow('append-only');
    });
  });

  describe('verified', () => {
    it('reports cash without a payment, and payments without cash', async () => {
      const { of, payment } = await pay({ provider: 'manual', currency: 'KWD', amount: 70 });
      await unpost(engine, payment);
      const { ok, checks } = await verifyLedger(engine);
      expect(ok).toBe(false);
      expect(checks.filter((check) => !check.ok)).toEqual([
        { name: CHECKS[2], ok: false, offending: [`${of} KWD: balances 70, ledger 0`] },
        { name: CHECKS[4], ok: false, offending: [`manual ${payment} KWD: stored 70, ledger 0`] },
      ]);
      await engine.database.query(`UPDATE payment SET currency = 'BHD' WHERE id = $1`, [payment]);
      await post(
        postPayment({
          currency: 'KWD',
          provider: 'manual',
          amountMinor: 70n,
          toReceivableMinor: 0n,
        }),
        payment,
        of,
      );
      const failed = (await verifyLedger(engine)).checks.filter((check) => !check.ok);
      expect(failed.map(({ name }) => name)).toEqual([CHECKS[3], CHECKS[4]]);
      expect(failed[1]?.offending).toEqual([
        `manual ${payment} BHD: stored 70, ledger 0`,
        `manual ${payment} KWD: stored 0, ledger 70`,
      ]);
      await engine.database.query(`UPDATE payment SET currency = 'KWD' WHERE id = $1`, [payment]);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('reports rows that bypassed the triggers', async () => {
      const broken = newId('ltx');
      const orphan = newId('ltx');
      const past = (statement: string, parameters: readonly string[]) =>
        engine.database.transaction(async () => {
          await engine.database.query('SET LOCAL session_replication_role = replica');
          await engine.database.query(statement, parameters);
        });
      await past(`INSERT INTO ledger_transaction VALUES ($1, 'payment', $1, $2, 'USD', now())`, [
        broken,
        customer,
      ]);
      await past(`INSERT INTO ledger_posting VALUES ($1, 1, 'revenue', 1)`, [orphan]);
      const { ok, checks } = await verifyLedger(engine);
      expect(ok).toBe(false);
      expect(checks.filter((check) => !check.ok)).toEqual([
        { name: CHECKS[0], ok: false, offending: [broken] },
        { name: CHECKS[1], ok: false, offending: [orphan] },
      ]);
      await past('DELETE FROM ledger_transaction WHERE id = $1', [broken]);
      await past('DELETE FROM ledger_posting WHERE transaction_id = $1', [orphan]);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('since an instant checks the customers who have posted since then', async () => {
      const old = await pay({ provider: 'manual', currency: 'KWD', amount: 70 });
      await engine.database.query(`UPDATE payment SET amount = 71 WHERE id = $1`, [old.payment]);
      // Ids have the real time, in milliseconds.
      const [{ since } = { since: '' }] = await engine.database.query<{ since: string }>(
        `SELECT to_json(date_trunc('milliseconds', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 ms') #>> '{}' || 'Z' AS since`,
      );
      const verifySince = async () => {
        const answer = await engine.http.get(`/v1/ledger/verify?changed_since=${since}`);
        expect(answer.status).toBe(200);
        return answer.body as Awaited<ReturnType<typeof verifyLedger>>;
      };
      expect((await verifyLedger(engine)).ok).toBe(false);
      expect((await verifySince()).ok).toBe(true);
      const recent = await pay({ provider: 'manual', currency: 'KWD', amount: 5 });
      await engine.database.query(`UPDATE payment SET amount = 6 WHERE id = $1`, [recent.payment]);
      const failed = (await verifySince()).checks.filter(({ ok }) => !ok);
      expect(failed.map(({ offending }) => offending)).toContainEqual([
        `manual ${recent.payment} KWD: stored 6, ledger 5`,
      ]);
      for (const [id, amount] of [
        [old.payment, 70],
        [recent.payment, 5],
      ]) {
        await engine.database.query('UPDATE payment SET amount = $2 WHERE id = $1', [id, amount]);
      }
      expect((await verifyLedger(engine)).ok).toBe(true);
      expect((await verifySince()).ok).toBe(true);
      expect((await engine.http.get('/v1/ledger/verify?changed_since=today')).status).toBe(400);
    });

    it('keeps the totals of accounts, and reports one that is wrong', async () => {
      const accounts = async () => ((await read('/v1/ledger/accounts')) as { data: object[] }).data;
      const posted = await engine.database.query(
        `SELECT account, currency, sum(amount_minor)::text AS balance
         FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
         GROUP BY account, currency ORDER BY account, currency`,
      );
      expect(await accounts()).toEqual(posted);
      await engine.database.query(`UPDATE ledger_total SET amount_minor = amount_minor + 1`);
      const failed = (await verifyLedger(engine)).checks.filter(({ ok }) => !ok);
      expect(failed.map(({ name }) => name)).toEqual(['totals_of_accounts_equal_postings']);
      await engine.database.query(`UPDATE ledger_total SET amount_minor = amount_minor - 1`);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('runs the checks of all modules read-only, and reports at most 100 violations', async () => {
      const checks = engine.app.get(LedgerChecks);
      const offending = Array.from({ length: 101 }, (_, index) => `inv_${index}`);
      let writes: unknown = null;
      checks.register({
        name: 'test_check',
        run: async () => {
          if (writes === 'try') {
            await engine.database.query('DELETE FROM event');
          }
          return offending;
        },
      });
      const { ok, checks: results } = await verifyLedger(engine);
      expect(ok).toBe(false);
      expect(results.at(-1)).toEqual({
        name: 'test_check',
        ok: false,
        offending: offending.slice(0, 100),
      });
      writes = 'try';
      await expect(checks.run()).rejects.toThrow('read-only transaction');
      expect(() => checks.register({ name: 'test_check', run: async () => [] })).toThrow('twice');
    });
  });
});
