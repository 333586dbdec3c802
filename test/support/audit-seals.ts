import { AuditSealing } from '../../src/modules/audit/audit-sealing';
import type { TestApp } from './test-app';
import { until } from './until';

/** Longer than a transaction of another test takes on a busy machine. */
const LONGEST_TRANSACTION_MS = 120_000;

const UNSEALED = `
  SELECT count(*)::int AS count FROM audit_change
  WHERE position > (SELECT coalesce(max(to_position), 0) FROM audit_seal)`;

/** Runs the sealing job several times. One run seals changes only up to the position that the run before it recorded. */
export async function runSealing(engine: TestApp): Promise<void> {
  const sealing = engine.app.get(AuditSealing);
  for (let run = 0; run < 3; run += 1) while (await sealing.runDue());
}

/**
 * Seals all changes. A change is sealed only when all older transactions of the server have ended, even transactions of
 * other tests.
 */
export async function sealAll(engine: TestApp): Promise<void> {
  const isSealed = async (): Promise<boolean> => {
    await runSealing(engine);
    const [open] = await engine.database.query<{ count: number }>(UNSEALED);
    return open?.count === 0;
  };
  await until('all changes are sealed', isSealed, LONGEST_TRANSACTION_MS);
}
