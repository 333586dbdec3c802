import { CreateMeterService } from '../../src/modules/metering/create-meter.service';
import { UsageStore } from '../../src/modules/metering/usage-store';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';
import { USAGE_STORE_RULES, type UsageStoreWorld } from './usage-store';

describe('the usage store in PostgreSQL', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-06-01T00:00:00.000Z');
  });

  afterAll(() => engine.close());

  function worldOf(store: UsageStore): UsageStoreWorld {
    return {
      store,
      makeCustomer: () => createCustomer(engine),
      makeMeter: (terms = {}) => {
        made += 1;
        return engine.app.get(CreateMeterService).create({
          key: `contract_${made}`,
          name: 'Meter',
          eventName: `contract_${made}`,
          aggregation: 'count',
          valueProperty: null,
          filters: [],
          groupBy: [],
          lateEvents: 'next_invoice',
          isRecurring: false,
          metadata: {},
          ...terms,
        });
      },
    };
  }

  describe.each(Object.entries(USAGE_STORE_RULES))('rule: %s', (_, rule) => {
    it('holds', () => rule(worldOf(engine.app.get(UsageStore))));

    it('fails for a store that loses acknowledged events', async () => {
      const forgetful = new Proxy(engine.app.get(UsageStore), {
        get: (store, name) =>
          name === 'append'
            ? (events: readonly unknown[]) =>
                Promise.resolve({ accepted: events.length, duplicates: 0, rejected: [] })
            : (Reflect.get(store, name) as (...given: unknown[]) => unknown).bind(store),
      });
      await expect(rule(worldOf(forgetful))).rejects.toThrow();
    });
  });
});
