import { ProviderMovementsService } from '../../src/modules/payments/providers/provider-movements.service';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { MAX_DIFFERENCES } from '../../src/modules/reconciliations/reconciliation';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;
const LEASE_MS = 150_000;

interface Run {
  readonly id: string;
  readonly status: string;
  readonly charges_listed: number;
  readonly updated_at: string;
}

describe('a step of a comparison with the provider', () => {
  let story: EngineWithStripe;

  beforeEach(async () => {
    story = await startEngineWithStripe();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await story.close();
  });

  /** Starts a comparison of payments with other amounts at the provider. Returns its id. */
  async function startWithDifferences(count: number): Promise<string> {
    const { customer } = await story.customerWith('pm_card_visa');
    for (let made = 0; made < count; made += 1) await story.pay(customer);
    for (const intent of story.stripe.account.paymentIntents.values()) intent.amount_received += 1;
    story.engine.clock.advanceMs(HOUR_MS);
    return (await story.post('/v1/reconciliations', { provider: 'stripe' })).id;
  }

  const readRun = (id: string): Promise<Run> => story.get<Run>(`/v1/reconciliations/${id}`);

  /** Runs steps until the comparison ends, each `pauseMs` after the one before. Returns the longest one in ms. */
  async function finish(id: string, pauseMs = 0): Promise<number> {
    let longestMs = 0;
    for (let steps = 0; steps < 60; steps += 1) {
      if ((await readRun(id)).status !== 'running') return longestMs;
      const startedAt = story.engine.clock.now().getTime();
      await story.run(DueReconciliations);
      longestMs = Math.max(longestMs, story.engine.clock.now().getTime() - startedAt);
      story.engine.clock.advanceMs(pauseMs);
    }
    throw new Error(`${id} does not end.`);
  }

  /** Returns the ids of the payments whose amounts differ. */
  async function differencesOf(id: string): Promise<ReadonlySet<string>> {
    const path = `/v1/reconciliations/${id}/differences?limit=100`;
    const { data } = await story.get<{
      readonly data: readonly { readonly type: string; readonly payment_id: string }[];
    }>(path);
    expect(new Set(data.map(({ type }) => type))).toEqual(new Set(['amount']));
    const payments = new Set(data.map((one) => one.payment_id));
    expect(payments.size).toBe(data.length);
    return payments;
  }

  it('keeps what it confirmed before the provider did not answer', async () => {
    const id = await startWithDifferences(20);
    let reads = 0;
    story.stripe.faults.decide = (operation) => {
      if (operation !== 'paymentIntents.retrieve') return null;
      reads += 1;
      return reads % 10 === 0 ? 'error_500_before' : null;
    };
    await finish(id, HOUR_MS);
    expect(await readRun(id)).toMatchObject({ status: 'completed', differences_found: 20 });
    expect((await differencesOf(id)).size).toBe(20);
  });

  it.each([
    ['the provider does not answer about', 'provider_unavailable'],
    ['answers of the provider cannot be processed for', 'internal_error'],
  ])('passes over an object after some hours, if %s it', async (_, failureCode) => {
    const id = await startWithDifferences(5);
    const [, unreadable, , once] = [...story.stripe.account.paymentIntents.keys()].sort();
    let isFirst = true;
    const provider = story.engine.app.get(ProviderMovementsService);
    const read = provider.read.bind(provider);
    jest.spyOn(provider, 'read').mockImplementation((name, kind, reference) => {
      if (reference === once && isFirst) {
        isFirst = false;
        if (failureCode === 'provider_unavailable') return Promise.resolve(null);
        throw new Error('The answer cannot be processed.');
      }
      if (reference !== unreadable) return read(name, kind, reference);
      if (failureCode === 'provider_unavailable') return Promise.resolve(null);
      throw new Error('The answer cannot be processed.');
    });
    await finish(id, HOUR_MS);
    expect(await readRun(id)).toMatchObject({
      status: 'failed',
      failure_code: failureCode,
      differences_found: 4,
    });
    expect((await differencesOf(id)).size).toBe(4);
    const metric = 'reconciliation_differences{provider="stripe"}';
    const { text: metrics } = await story.engine.uncheckedHttp.get('/metrics');
    expect(metrics).toContain(`${metric} 4`);
    story.engine.clock.advanceMs(48 * HOUR_MS);
    const { text: later } = await story.engine.uncheckedHttp.get('/metrics');
    expect(later).not.toContain(metric);
  });

  it('keeps no difference beyond the maximum of the comparison', async () => {
    const id = await startWithDifferences(5);
    await until('the charges are listed', async () => {
      await story.run(DueReconciliations);
      return (await readRun(id)).charges_listed === 5;
    });
    const found = 'UPDATE reconciliation SET differences_found = $2 WHERE id = $1';
    await story.engine.database.query(found, [id, MAX_DIFFERENCES - 2]);
    await finish(id);
    expect(await readRun(id)).toMatchObject({
      status: 'completed',
      differences_found: MAX_DIFFERENCES,
      is_truncated: true,
    });
    expect((await differencesOf(id)).size).toBe(2);
  });

  it('ends within its lease if the provider is slow', async () => {
    const id = await startWithDifferences(20);
    story.stripe.faults.decide = (operation) => {
      if (operation === 'paymentIntents.retrieve') story.engine.clock.advanceMs(10_000);
      return null;
    };
    expect(await finish(id)).toBeLessThan(LEASE_MS);
    expect(await readRun(id)).toMatchObject({ status: 'completed', differences_found: 20 });
    expect((await differencesOf(id)).size).toBe(20);
  });
});
