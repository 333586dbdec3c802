import { createHash } from 'node:crypto';
import { formatExact } from '../../src/core/decimal';
import type { Meter, MeterTerms } from '../../src/modules/meters';
import type { IncomingEvent, UsageStore } from '../../src/modules/metering/usage-store';

/** A store and its test data: each call creates objects that no other test uses. */
export interface UsageStoreWorld {
  readonly store: UsageStore;
  makeCustomer(): Promise<string>;
  /** Creates a meter for an event name of its own, unless the terms say otherwise. */
  makeMeter(terms?: Partial<MeterTerms>): Promise<Meter>;
}

const MARCH = {
  startAt: new Date('2026-03-01T00:00:00.000Z'),
  endAt: new Date('2026-04-01T00:00:00.000Z'),
};
const SUM = { aggregation: 'sum', valueProperty: 'value' } as const;

let made = 0;

interface Happened {
  readonly at: string;
  readonly value?: number | string;
  readonly model?: string;
}

function eventsOf(
  customerId: string,
  { eventName }: Meter,
  happened: readonly Happened[],
): readonly IncomingEvent[] {
  return happened.map(({ at, ...properties }, index) => {
    made += 1;
    return {
      index,
      idempotencyKey: `contract-${made}`,
      customerId,
      eventName,
      timestamp: new Date(at),
      properties,
    };
  });
}

async function shown({ store }: UsageStoreWorld, customerId: string, meter: Meter) {
  const query = { customerId, meter, period: MARCH, upToPosition: null };
  const { groups } = await store.aggregate(query);
  return groups.map(({ group, value, events }) => [...group, formatExact(value), Number(events)]);
}

/** Rules for any usage store; each throws if the store breaks it. */
export const USAGE_STORE_RULES: Readonly<
  Record<string, (world: UsageStoreWorld) => Promise<void>>
> = {
  'counts what it acknowledged, at once': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter(SUM)];
    const events = eventsOf(customer, meter, [
      { at: '2026-03-01T00:00:00.000Z', value: 1 },
      { at: '2026-03-31T23:59:59.999Z', value: '0.5' },
      { at: '2026-04-01T00:00:00.000Z', value: 100 },
    ]);
    const result = await world.store.append(events);
    expect(result).toEqual({ accepted: 3, duplicates: 0, rejected: [] });
    expect(await shown(world, customer, meter)).toEqual([['1.5', 2]]);
  },

  'counts a key once, in one request, again, and by many at a time': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter()];
    const [event] = eventsOf(customer, meter, [{ at: '2026-03-05T00:00:00Z' }]);
    if (event === undefined) throw new Error('There is one.');
    const twice = [event, { ...event, index: 1 }];
    const results = await Promise.all([1, 2, 3].map(() => world.store.append(twice)));
    const accepted = results.reduce((sum, one) => sum + one.accepted, 0);
    const duplicates = results.reduce((sum, one) => sum + one.duplicates, 0);
    expect([accepted, duplicates]).toEqual([1, 5]);
    expect(await shown(world, customer, meter)).toEqual([['1', 1]]);
  },

  'refuses a key that comes again with another event, and stores the rest': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter(SUM)];
    const [first, second] = eventsOf(customer, meter, [
      { at: '2026-03-05T00:00:00Z', value: 1 },
      { at: '2026-03-05T00:00:00Z', value: 2 },
    ]);
    if (first === undefined || second === undefined) throw new Error('There are two.');
    await world.store.append([first]);
    const other = { ...first, properties: { value: 9 } };
    const { accepted, rejected } = await world.store.append([other, second]);
    expect([accepted, rejected.map(({ index, code }) => [index, code])]).toEqual([
      1,
      [[0, 'idempotency_key_reused']],
    ]);
    expect(await shown(world, customer, meter)).toEqual([['3', 2]]);
  },

  'takes a stream of events': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter()];
    const happened = Array.from({ length: 2_500 }, () => ({ at: '2026-03-05T00:00:00Z' }));
    const events = eventsOf(customer, meter, happened);
    async function* pieces(): AsyncGenerator<readonly IncomingEvent[]> {
      for (let start = 0; start < events.length; start += 400) {
        yield await Promise.resolve(events.slice(start, start + 400));
      }
    }
    expect(await world.store.append(pieces())).toMatchObject({ accepted: 2_500 });
    expect(await shown(world, customer, meter)).toEqual([['2500', 2_500]]);
  },

  'tells groups apart, and windows, which are of one moment with the whole': async (world) => {
    const customer = await world.makeCustomer();
    const meter = await world.makeMeter({ ...SUM, groupBy: ['model'] });
    await world.store.append(
      eventsOf(customer, meter, [
        { at: '2026-03-05T00:30:00Z', value: 1, model: 'a' },
        { at: '2026-03-20T00:30:00Z', value: 2, model: 'a' },
        { at: '2026-03-20T00:30:00Z', value: 4 },
      ]),
    );
    expect(await shown(world, customer, meter)).toEqual(
      expect.arrayContaining([
        ['a', '3', 2],
        [null, '4', 1],
      ]),
    );
    const query = { customerId: customer, meter, period: MARCH, upToPosition: null };
    const { items } = await world.store.listCounted(query, null, { after: null, limit: 9 });
    expect(items.map(({ group }) => group)).toEqual([['a'], ['a'], [null]]);
    const middle = new Date('2026-03-20T00:30:00.000Z');
    const windows = [
      { ...MARCH, endAt: middle },
      { ...MARCH, startAt: middle },
    ];
    const series = await world.store.series({ customerId: customer, meter, windows, groupBy: [] });
    const values = [...series.windows, series.whole].map((groups) =>
      groups.map(({ value }) => formatExact(value)),
    );
    expect(values).toEqual([['1'], ['6'], ['7']]);
  },

  'lists the customers with the largest usage, with the number and the sum of all': async (
    world,
  ) => {
    const [small, large] = [await world.makeCustomer(), await world.makeCustomer()];
    const meter = await world.makeMeter({ ...SUM, groupBy: ['model'] });
    const at = '2026-03-05T00:30:00Z';
    await world.store.append(eventsOf(small, meter, [{ at, value: 3 }]));
    await world.store.append(
      eventsOf(large, meter, [
        { at, value: 2, model: 'a' },
        { at, value: 2, model: 'b' },
        { at: '2026-04-01T00:00:00Z', value: 9 },
      ]),
    );
    const read = async (limit: number) => {
      const { data, customers, total } = await world.store.largest({ meter, period: MARCH, limit });
      const values = data.map(({ customerId, value }) => [customerId, formatExact(value)]);
      return { values, customers, total: formatExact(total) };
    };
    const both = [
      [large, '4'],
      [small, '3'],
    ];
    expect(await read(2)).toEqual({ values: both, customers: 2, total: '7' });
    expect(await read(1)).toEqual({ values: both.slice(0, 1), customers: 2, total: '7' });
  },

  'holds a weighted sum from part to part since its start, and returns from when on events count':
    async (world) => {
      const customer = await world.makeCustomer();
      const terms = { ...SUM, aggregation: 'weighted_sum', groupBy: ['model'] } as const;
      const [meter, recurring] = [
        await world.makeMeter(terms),
        await world.makeMeter({ ...terms, isRecurring: true }),
      ];
      for (const one of [meter, recurring]) {
        await world.store.append(
          eventsOf(customer, one, [
            { at: '2026-02-28T23:59:59.999Z', value: 1, model: 'a' },
            { at: '2026-03-01T00:00:00.000Z', value: 2, model: 'a' },
            { at: '2026-03-09T12:30:00.001Z', value: 4, model: 'b' },
          ]),
        );
      }
      const period = { ...MARCH, startAt: new Date('2026-03-10T12:30:00.000Z') };
      const since = async (one: Meter, heldSince?: Date) => {
        const query = { customerId: customer, meter: one, period, heldSince, upToPosition: null };
        const { groups, countedFrom } = await world.store.aggregate(query);
        const shown = groups.map(({ group, value, events }) => [
          ...group,
          formatExact(value),
          events,
        ]);
        return [countedFrom, ...shown];
      };
      const [a, b] = [
        ['a', '2', 0n],
        ['b', '4', 0n],
      ];
      expect(await since(meter, MARCH.startAt)).toEqual([MARCH.startAt, a, b]);
      expect(await since(meter)).toEqual([period.startAt]);
      const beginning = new Date('0001-01-01T00:00:00.000Z');
      expect(await since(recurring, MARCH.startAt)).toEqual([beginning, ['a', '3', 0n], b]);
      const listed = async (one: Meter, heldSince?: Date) => {
        const query = { customerId: customer, meter: one, period, heldSince, upToPosition: null };
        const values: unknown[] = [];
        for (let after: string | null = null, left = 9; left > 0; left -= 1) {
          const page = await world.store.listCounted(query, null, { after, limit: 1 });
          values.push(...page.items.map(({ properties }) => properties['value']));
          after = page.next;
          if (after === null) break;
        }
        return values;
      };
      expect(await listed(meter, MARCH.startAt)).toEqual([2, 4]);
      expect(await listed(meter)).toEqual([]);
      expect(await listed(recurring)).toEqual([1, 2, 4]);
      const summed = await world.makeMeter({ ...SUM, eventName: meter.eventName });
      expect(await since(summed, MARCH.startAt)).toEqual([period.startAt, ['0', 0n]]);
    },

  'reads again what it once read, and lists its events': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter(SUM)];
    const events = eventsOf(customer, meter, [
      { at: '2026-03-09T00:00:00Z', value: 1 },
      { at: '2026-03-07T00:00:00Z', value: 2 },
      { at: '2026-03-08T00:00:00Z', value: 4 },
    ]);
    await world.store.append(events);
    const query = { customerId: customer, meter, period: MARCH };
    const then = await world.store.aggregate({ ...query, upToPosition: null });
    await world.store.append(eventsOf(customer, meter, [{ at: '2026-03-07T00:00:00Z', value: 8 }]));
    await world.store.void(events[0]?.idempotencyKey ?? '');
    expect(await shown(world, customer, meter)).toEqual([['14', 3]]);
    const asThen = { ...query, upToPosition: then.upToPosition };
    expect(await world.store.aggregate(asThen)).toEqual(then);
    expect(await world.store.recount(asThen)).toEqual(then);
    const keys: string[] = [];
    for (let after: string | null = null, left = 9; left > 0; left -= 1) {
      const page = await world.store.listCounted(asThen, null, { after, limit: 1 });
      keys.push(...page.items.map(({ idempotencyKey }) => idempotencyKey));
      after = page.next;
      if (after === null) break;
    }
    expect(keys).toEqual([1, 2, 0].map((place) => events[place]?.idempotencyKey));
  },

  'keeps an event that is taken back, and counts it no more': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter()];
    const [event] = eventsOf(customer, meter, [{ at: '2026-03-05T00:00:00Z' }]);
    if (event === undefined) throw new Error('There is one.');
    await world.store.append([event]);
    const answers = await Promise.all([1, 2].map(() => world.store.void(event.idempotencyKey)));
    expect(answers[0]?.voidedAt).toBeInstanceOf(Date);
    expect(answers[1]).toEqual(answers[0]);
    expect(await shown(world, customer, meter)).toEqual([['0', 0]]);
    expect(await world.store.get(event.idempotencyKey)).toEqual(answers[0]);
    expect(await world.store.append([event])).toMatchObject({ accepted: 0, duplicates: 1 });
  },

  'lists what it accepted, newest first': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter()];
    const events = eventsOf(customer, meter, [
      { at: '2026-03-05T00:00:00Z' },
      { at: '2026-03-07T00:00:00Z' },
      { at: '2026-03-06T00:00:00Z' },
    ]);
    await world.store.append(events);
    const filter = { customerId: customer, eventName: null, from: null, to: null };
    const first = await world.store.list(filter, { after: null, limit: 2 });
    const rest = await world.store.list(filter, { after: first.next, limit: 2 });
    const keys = [...first.items, ...rest.items].map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toEqual([1, 2, 0].map((place) => events[place]?.idempotencyKey));
    expect(rest.next).toBeNull();
  },

  'proves what it took': async (world) => {
    const [customer, meter] = [await world.makeCustomer(), await world.makeMeter(SUM)];
    const events = eventsOf(customer, meter, [
      { at: '2026-03-06T00:00:00Z', value: 1 },
      { at: '2026-03-05T00:00:00Z', value: 2 },
      { at: '2026-03-07T00:00:00Z' },
    ]);
    await world.store.append(events);
    await world.store.append(events.slice(0, 2));
    await world.store.void(events[0]?.idempotencyKey ?? '');
    const keys = [1, 0, 2].map((place) => `${events[place]?.idempotencyKey}\n`).join('');
    const query = { customerId: customer, meter, period: MARCH };
    const proof = {
      accepted: 3n,
      duplicates: 2n,
      rejected: 0n,
      voided: 1n,
      counted: 1n,
      billed: 0n,
      unbillable: 0n,
      pending: 1n,
      digest: createHash('sha256').update(keys).digest('hex'),
      archived: [],
    };
    const nothing = { unbillable: [] };
    expect(await world.store.prove({ ...query, ...nothing })).toEqual(proof);
    const all = { unbillable: [MARCH] };
    const unbillable = { ...proof, unbillable: 1n, pending: 0n };
    expect(await world.store.prove({ ...query, ...all })).toEqual(unbillable);
  },
};
