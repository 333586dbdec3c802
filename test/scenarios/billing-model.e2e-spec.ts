import fc from 'fast-check';
import {
  ADDONS,
  COUPONS,
  CURRENCIES,
  METER,
  type ModelPrice,
  PLANS,
  TAX_RATES,
  TAXES,
  ZONES,
} from '../support/reference/catalog';
import { billingCommands, firstCommand, type EngineUnderTest } from '../support/reference/commands';
import { assertAgreement } from '../support/reference/agreement';
import type { BilledLine } from '../support/reference/line';
import { Reference } from '../support/reference/model';
import { SEED } from '../support/seed';
import { startTestApp, type TestApp } from '../support/test-app';

/**
 * Random histories of customers, run by the engine over HTTP and by a small reference model that applies the rules in
 * the simplest way. Both must have the same invoices to the minor unit. The short form runs 200 sequences,
 * `CAMPAIGN=full` runs 2,000. `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const SEQUENCES = Number(process.env['SEQUENCES'] ?? (FULL ? 2_000 : 200));
const MOST_COMMANDS = 30;
const TIME_LIMIT_MS = FULL ? 3_600_000 : 400_000;

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
  isExempt: fc.nat({ max: 9 }).map((chance) => chance === 0),
  graceHours: fc.constantFrom(0, 0, 0, 1, 50, 400),
});

describe('the billing model', () => {
  let engine: TestApp;
  const planIds = new Map<string, readonly string[]>();
  const addonIds = new Map<string, readonly string[]>();
  const couponCodes = new Map<string, readonly string[]>();
  let taxRateIds: readonly string[] = [];
  let meterId = '';

  const create = async (path: string, body: object): Promise<{ id: string; code: string }> => {
    const answer = await engine.http.post(path).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return answer.body as { id: string; code: string };
  };

  const inOrder = <Item, Made>(
    items: readonly Item[],
    make: (item: Item) => Promise<Made>,
  ): Promise<readonly Made[]> =>
    items.reduce<Promise<readonly Made[]>>(
      async (made, item) => [...(await made), await make(item)],
      Promise.resolve([]),
    );

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
    taxRateIds = await inOrder(
      TAX_RATES,
      async (rate) => (await create('/v1/tax-rates', { name: 'Tax', ...rate })).id,
    );
    const { key, eventName: event_name, valueProperty: value_property, groupBy } = METER;
    const group_by = [groupBy];
    const meter = { key, event_name, aggregation: 'sum', value_property, group_by };
    meterId = (await create('/v1/meters', meter)).id;
    const termsOf = (price: ModelPrice): object => priceTerms(price, meterId);
    for (const currency of CURRENCIES) {
      const plans = await inOrder(PLANS, ({ name, interval, proration, prices }) =>
        create('/v1/plans', {
          code: `${name}-${currency.toLowerCase()}`,
          name,
          currency,
          interval,
          proration,
          prices: prices.map(termsOf),
        }),
      );
      const addons = await inOrder(ADDONS, ({ name, prices }) =>
        create('/v1/addons', {
          code: `${name}-${currency.toLowerCase()}`,
          name,
          currency,
          prices: prices.map(termsOf),
        }),
      );
      planIds.set(
        currency,
        plans.map(({ id }) => id),
      );
      addonIds.set(
        currency,
        addons.map(({ id }) => id),
      );
      const coupons = await inOrder(COUPONS, ({ duration, months, percentOff, amountOff, plan }) =>
        create('/v1/coupons', {
          duration,
          ...(plan === undefined ? {} : { plan_ids: [plans[plan]?.id] }),
          ...(months === undefined ? {} : { duration_in_months: months }),
          ...(percentOff === undefined
            ? { type: 'amount', amount_off: Number(amountOff), currency }
            : { type: 'percent', percent_off: percentOff }),
        }),
      );
      couponCodes.set(
        currency,
        coupons.map(({ code }) => code),
      );
    }
  });

  afterAll(() => engine.close());

  /** Returns an id by its index among those of the customer, oldest first; the reference must know all of them. */
  async function idOf(
    table: 'invoice' | 'credit_note' | 'payment' | 'refund',
    customerId: string,
    place: number,
  ): Promise<string> {
    const ofCustomer =
      table === 'refund'
        ? 'payment_id IN (SELECT id FROM payment WHERE customer_id = $1)'
        : 'customer_id = $1';
    const [row] = await engine.database.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${ofCustomer} ORDER BY id OFFSET $2 LIMIT 1`,
      [customerId, place],
    );
    return row?.id ?? '';
  }

  async function begin(
    terms: typeof customers extends fc.Arbitrary<infer Terms> ? Terms : never,
  ): Promise<EngineUnderTest> {
    const { now, zone, currency, taxes, isExempt, graceHours } = terms;
    const clock = await create('/v1/test-clocks', {
      name: 'A life',
      now: new Date(now).toISOString(),
    });
    const customer = await create('/v1/customers', {
      name: 'Ada Lovelace',
      timezone: zone,
      test_clock_id: clock.id,
      tax_rate_ids: taxes.map((index) => taxRateIds[index]),
      tax_exempt: isExempt ? 'exempt' : 'none',
      invoice_grace_hours: graceHours,
    });
    return {
      subscriptionIds: [],
      customerId: customer.id,
      currency,
      clockId: clock.id,
      meterId,
      planId: (plan) => planIds.get(currency)?.[plan] ?? '',
      addonId: (addon) => addonIds.get(currency)?.[addon] ?? '',
      couponCode: (coupon) => couponCodes.get(currency)?.[coupon] ?? '',
      invoiceId: (place) => idOf('invoice', customer.id, place),
      noteId: (place) => idOf('credit_note', customer.id, place),
      paymentId: (place) => idOf('payment', customer.id, place),
      refundId: (place) => idOf('refund', customer.id, place),
      get: async (path) => (await engine.http.get(path)).body as object,
      post: async (path, body) => {
        const { status, body: answered } = await engine.http.post(path).send(body);
        return { status, body: answered as object };
      },
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
      await fc.assert(
        fc.asyncProperty(
          customers,
          firstCommand,
          billingCommands(MOST_COMMANDS),
          async (terms, first, commands) => {
            const { now, zone, taxes, isExempt, graceHours } = terms;
            const payer = { taxes, isExempt, credits: [] };
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
                eventCounts.set(`${kind} ${event}`, (eventCounts.get(`${kind} ${event}`) ?? 0) + 1);
              }
            }
            for (const { lines, isRegenerated } of model.invoices) {
              if (isRegenerated) regenerated += 1;
              for (const line of lines) tally.set(kindOf(line), (tally.get(kindOf(line)) ?? 0) + 1);
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
          `${regenerated} regenerated invoices; events: ${shown(eventCounts)}\n`,
      );
    },
    TIME_LIMIT_MS + 60_000,
  );
});

function priceTerms(
  { amount, tiers, isMetered, isByGroup, minimum, maximum, ...price }: ModelPrice,
  meterId: string,
): object {
  const shown = {
    ...price,
    ...(isMetered ? { meter_id: meterId } : {}),
    ...(isByGroup ? { by_group: true } : {}),
    ...(minimum === undefined ? {} : { minimum_amount: Number(minimum) }),
    ...(maximum === undefined ? {} : { maximum_amount: Number(maximum) }),
  };
  switch (price.model) {
    case 'flat':
      return { ...shown, amount: Number(amount) };
    case 'per_unit':
      return { ...shown, unit_amount: amount };
    case 'graduated':
      return {
        ...shown,
        tiers: tiers?.map(({ upTo, amount: unit_amount, flat }) => ({
          up_to: upTo === null ? null : String(upTo),
          unit_amount,
          flat_amount: Number(flat),
        })),
      };
  }
}

/** Classifies lines. There must be many of each kind, so that the agreement is meaningful. */
function kindOf({ type, amount, isLate }: BilledLine): string {
  return isLate ? `late ${amount < 0n ? 'credit' : 'usage'}` : type;
}
