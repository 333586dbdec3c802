import fc from 'fast-check';
import { createAddonWith, createEntitlement } from '../support/allowances';
import {
  HOUR_MS,
  LINKS,
  planEntitlements,
  PairedHistory,
  PLANS,
  type EntitlementOffer,
  ZONES,
} from '../support/entitlement-history';
import { SEED } from '../support/seed';
import { startTestApp, Story, type TestApp } from '../support/story';

/**
 * Random histories, run by the engine and by a reference model (`allowance-model`). Each runs for two customers: one is
 * checked after every step, window boundary and end of a grant; the other only where it consumes. Their entitlements must
 * be equal. `SEQUENCES` sets the number of histories; `SEED` repeats a run.
 */
const SEQUENCES = Number(process.env['SEQUENCES'] ?? 8);
const MAX_STEPS = 16;
const TIME_LIMIT_MS = 120_000 + SEQUENCES * 20_000;
const KINDS = [
  ...['consume', 'consume', 'consume', 'report', 'report', 'voidEvent', 'advance', 'advance'],
  ...['advance', 'subscribe', 'change', 'pause', 'resume', 'cancel', 'uncancel', 'link', 'grant'],
  ...['grant', 'voidGrant'],
] as const;
/** Steps within days, with changes between windows that overlap. */
const WINDOW_KINDS = [
  ...['consume', 'consume', 'consume', 'report', 'voidEvent', 'nextDay', 'nextDay', 'nextDay'],
  ...['alternate', 'alternate', 'grant', 'voidGrant', 'subscribe', 'pause', 'resume', 'cancel'],
] as const;
/** Steps within days, with times in which nothing gives the entitlement. */
const GAP_KINDS = [
  ...['consume', 'consume', 'consume', 'report', 'nextDay', 'nextDay', 'nextDay'],
  ...['gap', 'gap', 'alternate', 'leave', 'voidEvent', 'grant'],
] as const;
/** Steps in which usage is voided while less is allowed than when it was counted. */
const VOID_KINDS = [
  ...['report', 'report', 'grant', 'voidGrant', 'voidEvent', 'nextDay', 'alternate', 'alternate'],
  ...['voidInPause', 'voidInPause', 'voidInPause', 'grantInPause', 'pause', 'resume', 'cancel'],
] as const;

describe('entitlements of customers, compared with a reference model', () => {
  let engine: TestApp;
  const offers: EntitlementOffer[] = [];

  beforeAll(async () => {
    engine = await startTestApp();
    const seller = await Story.begin(engine, '2026-01-01T00:00:00Z');
    for (const isCounted of [false, true]) {
      const meter = isCounted ? await seller.meter() : null;
      const { id, key } = await createEntitlement(engine, { meter_id: meter?.id ?? null });
      const planIds: string[] = [];
      for (const plan of PLANS)
        planIds.push(await seller.plan(100, { entitlements: planEntitlements(plan, id) }));
      const addons = [];
      for (const { mode, value } of LINKS) {
        addons.push(await createAddonWith(engine, id, { mode, value: String(value) }));
      }
      offers.push({ key, event: meter?.event ?? null, planIds, addons });
    }
  });

  afterAll(() => engine.close());

  test.each([
    ['whenever they are checked', [0, 1], KINDS],
    ['whenever windows replace each other', [0, 1], WINDOW_KINDS],
    ['whenever the entitlement comes back', [0, 1], GAP_KINDS],
    ['whenever usage is voided', [1], VOID_KINDS],
  ])(
    'are the same for both customers and the model, %s',
    async (_, sold, kinds) => {
      const steps = fc.array(
        fc.record({
          kind: fc.constantFrom(...kinds),
          by: fc.array(fc.nat({ max: 1_000 }), { minLength: 4, maxLength: 4 }),
        }),
        { minLength: 6, maxLength: MAX_STEPS, size: 'max' },
      );
      const begins = fc.integer({
        min: Date.parse('2026-01-01T00:00:00Z') / HOUR_MS,
        max: Date.parse('2026-12-31T00:00:00Z') / HOUR_MS,
      });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...sold),
          begins,
          fc.constantFrom(...ZONES),
          fc.nat({ max: 1_000 }),
          steps,
          async (chosen, hour, zone, plan, taken) => {
            const history = await PairedHistory.begin(engine, offers[chosen] ?? fail(), {
              now: hour * HOUR_MS,
              zone,
            });
            await history.run({ kind: 'subscribe', by: [0, plan, plan, 0] });
            for (const step of taken) await history.run(step);
            await history.end();
          },
        ),
        { seed: SEED, numRuns: SEQUENCES, endOnFailure: process.env['SHRINK'] === undefined },
      );
    },
    TIME_LIMIT_MS,
  );
});

function fail(): never {
  throw new Error('there is no such offer');
}
