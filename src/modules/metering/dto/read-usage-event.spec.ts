import { readUsageEvent } from './read-usage-event';

const event = (properties: object): object => ({
  idempotency_key: 'call-1',
  customer_id: 'cus_01h45ytscbebyvny4gc8cr8ma2',
  event_name: 'call',
  timestamp: '2026-03-01T00:00:00.000Z',
  properties,
});

describe('the properties of a usage event', () => {
  it('may hold as many values as fit into 16 KiB', () => {
    const a = Array<number>(8_188).fill(0);
    expect(JSON.stringify({ a })).toHaveLength(16_383);
    expect(readUsageEvent(event({ a }))).toMatchObject({ properties: { a } });
  });

  it('are refused before they are read if they have more keys', () => {
    let reads = 0;
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0]));
    const counted = new Proxy(many, {
      get: (target, key) => {
        reads += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    for (const properties of [counted, { deep: counted }]) {
      expect(readUsageEvent(event(properties))).toEqual([
        expect.objectContaining({ pointer: '/properties', code: 'is_properties' }),
      ]);
    }
    expect(reads).toBe(0);
  });
});
