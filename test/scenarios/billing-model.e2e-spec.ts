import fc from 'fast-check';
import { CURRENCIES, EXEMPTIONS, TAXES, ZONES } from '../support/reference/catalog';
import { billingCommands, firstCommand, type EngineUnderTest } from '../support/reference/commands';
import {
  type Answer,
  create,
  createMeters,
  EngineCatalog,
  type MeterIds,
} from '../support/reference/engine-catalog';
import { assertAgreement } from '../support/reference/agreement';
import type { BilledLine } from '../support/reference/line';
import { Reference } from '../support/reference/model';
import { SEED } from '../support/seed';
import { startTestApp, type TestApp } from '../support/test-app';

/**
 * Random histories of customers, run by the engine over HTTP and by a small reference model that applies the rules in
 * the simplest way. Both must have the same invoices to the minor unit. The short form runs 100 sequences,
 * `CAMPAIGN=full` runs 2,000. `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const SEQUENCES = Number(process.env['SEQUENCES'] ?? (FULL ? 2_000 : 100));
const MAX_COMMANDS = 40;
const TIME_LIMIT_MS = FULL ? 3_600_000 : 600_000;

/** Refusals that the reference knows. The short form should meet each of them; it prints those that it did not. */
const REFUSALS = [
  ...['coupon_already_redeemed', 'coupon_not_for_plan', 'credit_exceeds_line'],
  ...['credit_given_back_already', 'credit_note_corrected', 'credit_note_settled'],
  ...['invalid_transition', 'invoice_credited', 'invoice_empty', 'invoice_not_creditable'],
  ...['invoice_not_payable', 'invoice_overtaken', 'invoice_partly_paid', 'invoice_payment_pending'],
  ...['payment_exceeds_invoice', 'payment_not_refundable', 'plan_not_found', 'reference_not_found'],
  ...['refund_amount_exceeds_refundable', 'subscription_change_pending'],
  ...['subscription_not_canceling', 'subscription_not_running', 'subscription_terms_contradict'],
];

const customers = fc.record({
  now: fc
    .date({
      min: new Date('2023-12-01T00:00:00Z'),
      max: new Date('2026-12-31T00:00:00Z'),
      noInvalidDate: true,
    })
    .map((date) => Math.floor(date.getTime() / 1_000) * 1_000),
  zone: fc.constantFrom(...ZONES),
  currency: fc.constantFrom(...CURRENCIES),
  taxes: fc.constantFrom(...TAXES),
  exemption: fc.nat({ max: 9 }).map((chance) => EXEMPTIONS[chance] ?? 'none'),
  graceHours: fc.constantFrom(0, 0, 0, 1, 50, 400),
});

describe('the billing model', () => {
  let engine: TestApp;
  let meterIds: MeterIds = { sum: '', held: '' };
  let sequences = 0;

  const refusals = new Map<string, number>();

  const answerOf = ({ status, body }: { status: number; body: unknown }): Answer => {
    const { code } = body as { code?: string };
    if (status >= 400) count(refusals, code ?? '');
    return { status, body: body as object };
  };
  const post = async (path: string, body: object): Promise<Answer> =>
    answerOf(await engine.http.post(path).send(body));

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
    meterIds = await createMeters(post);
  });

  afterAll(() => engine.close());

  /** Returns the ids of the customer, oldest first; the reference must know all of them. */
  async function idsOf(
    table: 'invoice' | 'credit_note' | 'payment' | 'refund',
    customerId: string,
  ): Promise<readonly string[]> {
    const ofCustomer =
      table === 'refund'
        ? 'payment_id IN (SELECT id FROM payment WHERE customer_id = $1)'
        : 'customer_id = $1';
    const rows = await engine.database.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${ofCustomer} ORDER BY id`,
      [customerId],
    );
    return rows.map(({ id }) => id);
  }

  async function begin(
    terms: typeof customers extends fc.Arbitrary<infer Terms> ? Terms : never,
  ): Promise<EngineUnderTest> {
    const { now, zone, currency, taxes, exemption, graceHours } = terms;
    sequences += 1;
    const catalog = new EngineCatalog(String(sequences), currency, meterIds, post);
    const clock = await create(post, '/v1/test-clocks', {
      name: 'A life',
      now: new Date(now).toISOString(),
    });
    const customer = await create(post, '/v1/customers', {
      name: 'Ada Lovelace',
      timezone: zone,
      test_clock_id: clock.id,
      tax_rate_ids: await catalog.taxRateIds(taxes),
      tax_exempt: exemption,
      invoice_grace_hours: graceHours,
    });
    const idOf = async (table: Parameters<typeof idsOf>[0], place: number): Promise<string> =>
      (await idsOf(table, customer.id))[place] ?? '';
    return {
      subscriptionIds: [],
      customerId: customer.id,
      currency,
      clockId: clock.id,
      meterId: meterIds.sum,
      catalog,
      invoiceId: (place) => idOf('invoice', place),
      noteId: (place) => idOf('credit_note', place),
      paymentId: (place) => idOf('payment', place),
      refundId: (place) => idOf('refund', place),
      noteIds: () => idsOf('credit_note', customer.id),
      refundIds: () => idsOf('refund', customer.id),
      get: async (path) => (await engine.http.get(path)).body as object,
      post,
      patch: async (path, body) => answerOf(await engine.http.patch(path).send(body)),
      remove: async (path) => answerOf(await engine.http.delete(path)),
    };
  }

  it(
    'gives the invoices of the reference after any sequence of commands',
    async () => {
      process.stdout.write(`billing model: ${SEQUENCES} sequences, SEED=${SEED}\n`);
      const tally = new Map<string, number>();
      const eventCounts = new Map<string, number>();
      let commandCount = 0;
      let regenerated = 0;
      let limited = 0;
      let inPlace = 0;
      await fc.assert(
        fc.asyncProperty(
          customers,
          firstCommand,
          billingCommands(MAX_COMMANDS),
          async (terms, first, commands) => {
            const { now, zone, taxes, exemption, graceHours } = terms;
            const payer = { taxes, exemption, credits: [] };
            const model = new Reference(now, zone, payer, graceHours);
            const begun = await begin(terms);
            const real = {
              ...begun,
              post: (path: string, body: object) => {
                commandCount += 1;
                return begun.post(path, body);
              },
            };
            await first.run(model, real);
            await fc.asyncModelRun(() => ({ model, real }), commands);
            await assertAgreement(engine, real, model);
            for (const [kind, those] of Object.entries({
              subscription: model.subscriptions,
              invoice: model.invoices,
              note: model.creditNotes.all,
              payment: model.payments.all,
              refund: model.payments.refunds,
            })) {
              for (const event of those.flatMap(({ events }) => events)) {
                count(eventCounts, `${kind} ${event}`);
              }
            }
            limited += model.limitedCredits;
            const redemptions = model.subscriptions.flatMap((one) => one.redemptions);
            inPlace += redemptions
              .flatMap(({ uses }) => uses)
              .filter(({ begins }) => begins).length;
            for (const { lines, isRegenerated } of model.invoices) {
              if (isRegenerated) regenerated += 1;
              for (const line of lines) count(tally, kindOf(line));
            }
          },
        ),
        {
          seed: SEED,
          numRuns: SEQUENCES,
          interruptAfterTimeLimit: TIME_LIMIT_MS,
          markInterruptAsFailure: true,
        },
      );
      const shown = (counts: typeof tally): string =>
        [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
      process.stdout.write(
        `billing model: ${commandCount} commands, lines agreed on: ${shown(tally)}; ` +
          `${regenerated} regenerated invoices; ${limited} credits limited by refunds; ${inPlace} coupons used in the place of a bill; events: ${shown(eventCounts)}; refusals: ${shown(refusals)}; ` +
          `never refused with: ${REFUSALS.filter((code) => !refusals.has(code)).join(', ') || 'none of them'}\n`,
      );
    },
    TIME_LIMIT_MS + 60_000,
  );
});

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Classifies lines. There must be many of each kind, so that the agreement is meaningful. */
function kindOf({ type, amount, isLate }: BilledLine): string {
  return isLate ? `late ${amount < 0n ? 'credit' : 'usage'}` : type;
}
