import { Partitions } from '../../src/platform/database';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { startTestApp, type TestApp } from '../support/test-app';

const MONTHS = 24;

describe('partitions', () => {
  let database: TestDatabase;
  let first: TestApp;
  let second: TestApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    first = await startTestApp({ databaseUrl: database.url });
    second = await startTestApp({ databaseUrl: database.url });
  });

  afterAll(async () => {
    await first.close();
    await second.close();
    await database.drop();
  });

  it('are created once by two processes at the same time, and neither fails', async () => {
    for (let month = 0; month < MONTHS; month += 1) {
      const now = new Date(Date.UTC(2040, month, 15));
      await Promise.all(
        [first, second].map(({ app }) => app.get(Partitions).createMonths('audit_log', now, 1)),
      );
    }
    const created = await first.database.query(
      `SELECT FROM pg_inherits
       WHERE inhparent = 'audit_log'::regclass AND inhrelid::regclass::text ~ '_204[01]'`,
    );
    expect(created).toHaveLength(MONTHS);
  });
});
