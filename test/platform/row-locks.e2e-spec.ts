import { CustomerEntity } from '../../src/modules/customers/customer.entity';
import { newId } from '../../src/platform/ids';
import { startTestApp, type TestApp } from '../support/test-app';

describe('a row lock', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const id = newId('cus');
  const ways = {
    'of SQL': () => engine.database.selectOne(CustomerEntity, 'WHERE id = $1 FOR UPDATE', [id]),
    'of TypeORM': () =>
      engine.database
        .repository(CustomerEntity)
        .findOne({ where: { id }, lock: { mode: 'for_key_share' } }),
  };

  it.each(Object.entries(ways))('%s is refused outside of a transaction', async (_, lock) => {
    await expect(lock()).rejects.toThrow(/transaction/);
    expect(await engine.database.transaction(lock)).toBeNull();
  });
});
