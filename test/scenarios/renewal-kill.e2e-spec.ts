import fc from 'fast-check';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { leftByRenewals } from '../support/renewal-outcome';
import { runRenewals as run } from '../support/run-renewals';
import { SEED } from '../support/seed';
import { startTestApp, type TestApp } from '../support/test-app';

/**
 * A renewal run whose workers are killed, followed by one that is not, must write exactly what an undisturbed run
 * writes. The short form always runs; `CAMPAIGN=full` kills twenty. `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const SUBSCRIPTIONS = FULL ? 6_000 : 300;
const KILLS = FULL ? 20 : 3;
const TIME_LIMIT_MS = FULL ? 900_000 : 300_000;
const START_AT = '2026-01-31T10:00:00.000Z';
const RENEWED_AT = Date.parse('2026-04-02T00:00:00.000Z');
/** Statements by which the second worker of a round is killed later. */
const SECOND_KILL_AFTER = 7;

async function seed(engine: TestApp): Promise<void> {
  const create = async (path: string, body: object): Promise<{ id: string; code: string }> => {
    const answer = await engine.http.post(path).send(body);
    expect({ path, status: answer.status }).toEqual({ path, status: 201 });
    return answer.body as { id: string; code: string };
  };
  const plan = { name: 'Plan', currency: 'EUR', interval: 'month' };
  const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 };
  const seats = { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '712.5' };
  const flat = await create('/v1/plans', { ...plan, code: 'flat', prices: [base] });
  const both = await create('/v1/plans', { ...plan, code: 'both', prices: [base, seats] });
  const gift = await create('/v1/coupons', {
    type: 'amount',
    amount_off: 6_000,
    currency: 'EUR',
    duration: 'once',
  });
  const vat = await create('/v1/tax-rates', { name: 'VAT', percentage: '19' });
  engine.clock.set(START_AT);
  for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
    const customer = await create('/v1/customers', {
      name: 'Ada Lovelace',
      tax_rate_ids: index % 3 === 0 ? [vat.id] : [],
    });
    await create('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: index % 2 === 0 ? flat.id : both.id,
      quantity: String(1 + (index % 7)),
      metadata: { index },
      ...(index % 5 === 0 ? { coupon: gift.code } : {}),
    });
  }
}

describe('a renewal run that is killed', () => {
  const databases: TestDatabase[] = [];

  async function seeded(): Promise<string> {
    const database = await createTestDatabase();
    databases.push(database);
    const engine = await startTestApp({ databaseUrl: database.url });
    await seed(engine);
    await engine.close();
    return database.url;
  }

  async function copyOf(url: string): Promise<string> {
    const database = await copyTestDatabase(url);
    databases.push(database);
    return database.url;
  }

  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  it(
    'is completed by the next run, to the invoices of an undisturbed one',
    async () => {
      process.stdout.write(`renewal kills: ${KILLS} of ${SUBSCRIPTIONS}, SEED=${SEED}\n`);
      const disturbed = await seeded();
      const undisturbed = await copyOf(disturbed);
      expect(await run(undisturbed, RENEWED_AT)).toBe('done');

      // Two renewals of each, 100 in at least as many statements; the kills must come before they are all done.
      const statementsInAll = 2 * (SUBSCRIPTIONS / 100) * 20;
      const most = Math.floor(statementsInAll / (KILLS * 1.5)) - SECOND_KILL_AFTER;
      const moments = fc.sample(fc.integer({ min: 1, max: most }), { seed: SEED, numRuns: KILLS });
      for (const [kill, statements] of moments.entries()) {
        // In every other round a second worker runs, which is killed a little later.
        const beside =
          kill % 2 === 1 ? run(disturbed, RENEWED_AT, statements + SECOND_KILL_AFTER) : null;
        expect(await run(disturbed, RENEWED_AT, statements)).toBe('SIGKILL');
        await beside;
      }
      // No time has passed: the leases of the killed workers end with them.
      const [one, other] = await Promise.all([
        run(disturbed, RENEWED_AT),
        run(disturbed, RENEWED_AT),
      ]);
      expect([one, other]).toEqual(['done', 'done']);

      const [expected, left] = [await leftByRenewals(undisturbed), await leftByRenewals(disturbed)];
      expect(expected['invoices']).toHaveLength(3 * SUBSCRIPTIONS);
      expect(left).toEqual(expected);
    },
    TIME_LIMIT_MS,
  );
});
