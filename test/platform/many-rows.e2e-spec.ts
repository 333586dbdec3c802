/** @own-modules Defines an event, which would be in the documents of other files. */
import { CreditGrantEntity } from '../../src/modules/invoicing/credit-grant.entity';
import { CustomerEntity } from '../../src/modules/customers/customer.entity';
import type { Customer } from '../../src/modules/customers';
import { newId } from '../../src/platform/ids';
import { defineEvents, Outbox, toEventRecord } from '../../src/platform/outbox';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const NOW = new Date('2026-03-01T09:30:00.123Z');

function customer(fields: Partial<Customer> = {}): Customer {
  return {
    id: newId('cus'),
    version: 1,
    name: 'Ada Lovelace',
    email: null,
    externalId: null,
    currency: null,
    currencyLocked: false,
    timezone: 'UTC',
    address: null,
    taxExempt: 'none',
    taxRateIds: [],
    invoiceGraceHours: null,
    testClockId: null,
    metadata: {},
    deletedAt: null,
    createdAt: NOW,
    updatedAt: NOW,
    ...fields,
  };
}

describe('writing many rows', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const stored = async (ids: readonly string[]): Promise<readonly Customer[]> => {
    const rows = await engine.database.repository(CustomerEntity).find({ order: { id: 'ASC' } });
    return rows.filter(({ id }) => ids.includes(id));
  };

  it('keeps every value as it was', async () => {
    const made = [
      customer(),
      customer({
        name: `"Zoë" \\ {a,b} O'Neil 🚀 NULL`,
        email: 'ada@example.com',
        externalId: 'ä\n\t',
        currency: 'EUR',
        currencyLocked: true,
        taxRateIds: ['txr_1', 'with "quotes", {braces} and \\'],
        address: {
          line1: 'null',
          line2: null,
          city: 'Łódź',
          state: null,
          postalCode: '0090',
          country: 'PL',
        },
        metadata: { nested: { list: [1, 'two', null, true] }, '': '' },
        deletedAt: NOW,
      }),
    ];
    await engine.database.insertMany(CustomerEntity, made);
    expect(await stored(made.map(({ id }) => id))).toEqual(made);
  });

  it('updates each row with its own values, and no other column', async () => {
    const made = [customer({ name: 'One' }), customer({ name: 'Other' }), customer()];
    await engine.database.insertMany(CustomerEntity, made);
    const [one, other, untouched] = made;
    await engine.database.updateMany(CustomerEntity, [
      { id: one?.id ?? '', email: null, metadata: { a: 1 }, taxRateIds: ['txr_1'] },
      { id: other?.id ?? '', email: 'b@example.com', metadata: {}, taxRateIds: [] },
    ]);
    expect(await stored(made.map(({ id }) => id))).toEqual([
      { ...one, metadata: { a: 1 }, taxRateIds: ['txr_1'] },
      { ...other, email: 'b@example.com' },
      untouched,
    ]);
  });

  it('of none sends no statement', async () => {
    await engine.database.insertMany(CustomerEntity, []);
    await engine.database.updateMany(CustomerEntity, []);
  });

  it('keeps amounts beyond the range of JSON numbers', async () => {
    const owner = customer();
    await engine.database.insertMany(CustomerEntity, [owner]);
    const amount = 2n ** 62n + 1n;
    const grant = {
      id: newId('crd'),
      customerId: owner.id,
      currency: 'EUR',
      amount,
      remaining: amount,
      reserved: 0n,
      refunded: 0n,
      lost: 0n,
      sourceId: 'inv_1',
      createdAt: NOW,
    };
    await engine.database.insertMany(CreditGrantEntity, [grant]);
    expect(await engine.database.repository(CreditGrantEntity).findBy({ id: grant.id })).toEqual([
      grant,
    ]);
  });

  it('numbers the events of each object in the order in which they are recorded', async () => {
    class ThingDto {
      readonly id!: string;
      readonly step!: number;
    }
    const thingEvent = defineEvents(ThingDto, (thing: ThingDto) => ({ ...thing }));
    const stepped = thingEvent('thing.stepped', 'A thing took a step.');
    const step = (id: string, after: number) =>
      toEventRecord(stepped, {
        before: { id, step: after - 1 },
        after: { id, step: after },
        occurredAt: NOW,
      });
    const outbox = engine.app.get(Outbox);
    const record = (...steps: readonly ReturnType<typeof step>[]) =>
      engine.database.transaction(() => outbox.recordAll(steps));
    expect(await record()).toEqual([]);
    await record(step('one', 1));
    const heads = await record(step('one', 2), step('other', 1), step('one', 3));
    expect(heads.map(({ objectId, sequence }) => [objectId, sequence])).toEqual([
      ['one', 2],
      ['other', 1],
      ['one', 3],
    ]);
    expect([...heads].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(heads);
    expect(await eventsOf(engine, 'one')).toEqual(
      [1, 2, 3].map((sequence) => ({
        type: 'thing.stepped',
        sequence,
        data: { object: { id: 'one', step: sequence }, previous: { step: sequence - 1 } },
      })),
    );
  });
});
