import type { TestApp } from './test-app';

/** Runs statements that triggers refuse, to restore the state of a former release or of a damaged database. */
export async function withoutTriggers(
  engine: TestApp,
  statements: readonly string[],
): Promise<void> {
  await engine.database.transaction(async () => {
    await engine.database.query('SET LOCAL session_replication_role = replica');
    for (const sql of statements) await engine.database.query(sql);
  });
}
