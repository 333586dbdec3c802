import { ListQuery } from '../../src/platform/database/list-query';
import { CustomerEntity } from '../../src/modules/customers/customer.entity';
import { startTestApp, type TestApp } from '../support/test-app';

describe('a list with several values of a column, of rows that another table refers to', () => {
  let engine: TestApp;
  const ids: string[] = [];

  beforeAll(async () => {
    engine = await startTestApp();
    for (const external_id of ['a', 'c', 'b', null]) {
      const { body } = await engine.http.post('/v1/customers').send({ name: 'Ada', external_id });
      ids.push((body as { id: string }).id);
    }
    await engine.database.query('CREATE TABLE reference (customer_id varchar COLLATE "C")');
    await engine.database.query('INSERT INTO reference SELECT unnest($1::varchar[])', [ids]);
  });

  afterAll(() => engine.close());

  const query = (isSelective: boolean) =>
    new ListQuery('customer')
      .whereOneOf('external_id', ['a', 'b'])
      .whereReferredBy(
        { table: 'reference', column: 'customer_id', condition: 'true' },
        { column: 'country', value: null },
        { isSelective },
      );

  it.each([false, true])(
    'applies both filters to each page, with few rows: %s',
    async (isSelective) => {
      const page = (after: string | null) =>
        query(isSelective).page(engine.database, CustomerEntity, { limit: 1, after });
      const first = await page(null);
      expect([first.items.map(({ id }) => id), first.next]).toEqual([[ids[2]], ids[2]]);
      const second = await page(first.next);
      expect([second.items.map(({ id }) => id), second.next]).toEqual([[ids[0]], null]);
    },
  );
});
