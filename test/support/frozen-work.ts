import { Client } from 'pg';
import { untilSessionsWait } from './lock-waits';
import type { TestApp } from './test-app';
import { until } from './until';

/** Number of the advisory lock for which frozen work waits. */
const ICE = 4_712;

const FROZEN = `
  SELECT FROM pg_locks
  WHERE locktype = 'advisory' AND objid = ${ICE} AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

type Work = () => Promise<unknown>;

/**
 * Begins work that stands still, without a lock timeout, at its first statement of a kind. It continues once `act` has
 * ended.
 * @param statement for example `DELETE ON usage_event`, the condition of a trigger
 */
export async function whileFrozen(
  { database, databaseUrl }: TestApp,
  statement: string,
  work: Work,
  act: Work,
): Promise<void> {
  const ice = new Client({ connectionString: databaseUrl });
  await ice.connect();
  try {
    await ice.query(`
      CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('lock_timeout', '0', true);
        PERFORM pg_advisory_xact_lock_shared(${ICE});
        RETURN NULL;
      END $$;
      CREATE TRIGGER stand_still BEFORE ${statement} FOR EACH STATEMENT EXECUTE FUNCTION stand_still();
      SELECT pg_advisory_lock(${ICE})`);
    const begun = work();
    try {
      await until(
        'the statement stands still',
        async () => (await database.query(FROZEN)).length > 0,
      );
      await act();
    } finally {
      await ice.query('SELECT pg_advisory_unlock_all()');
      await begun.finally(() => ice.query('DROP FUNCTION stand_still CASCADE'));
    }
  } finally {
    await ice.end();
  }
}

/**
 * Begins two pieces of work, one after the other. The first one stands still at a statement, and continues once the
 * second one waits for a lock or has ended.
 */
export async function overlap(
  engine: TestApp,
  statement: string,
  [first, second]: readonly [first: Work, second: Work],
): Promise<void> {
  let following: Promise<unknown> = Promise.resolve();
  await whileFrozen(engine, statement, first, async () => {
    following = second();
    await Promise.race([following, untilSessionsWait(engine.database, 2)]);
  });
  await following;
}
