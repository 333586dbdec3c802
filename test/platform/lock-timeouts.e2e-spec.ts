import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { isLockTimeout } from '../../src/platform/database';
import { poolOf } from '../../src/platform/database/pool-use';
import { startTestApp } from '../support/test-app';

describe('a connection whose statement waited too long for a lock', () => {
  it('is used again', async () => {
    const engine = await startTestApp();
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    try {
      await holder.query('SELECT pg_advisory_lock(77)');
      let closed = 0;
      poolOf(engine.app.get(DataSource)).on('remove', () => (closed += 1));
      const statement = `SELECT set_config('lock_timeout', '10', true), pg_advisory_xact_lock(77)`;
      // The server is often ready for the next statement only a little after it has reported the error.
      for (let tries = 0; tries < 40; tries += 1) {
        const error: unknown = await engine.database
          .query(statement)
          .catch((thrown: unknown) => thrown);
        expect(isLockTimeout(error)).toBe(true);
      }
      expect(closed).toBe(0);
    } finally {
      await holder.end();
      await engine.close();
    }
  });
});
