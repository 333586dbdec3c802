import type { TestApp } from './test-app';

/**
 * Deletes the ledger transactions of a source, to restore the state that a crash would have left. The service cannot do
 * this.
 */
export async function unpost(engine: TestApp, sourceId: string): Promise<void> {
  await engine.database.transaction(async () => {
    await engine.database.query('SET LOCAL session_replication_role = replica');
    await engine.database.query(
      `DELETE FROM ledger_posting WHERE transaction_id IN (
         SELECT id FROM ledger_transaction WHERE source_id = $1)`,
      [sourceId],
    );
    await engine.database.query('DELETE FROM ledger_transaction WHERE source_id = $1', [sourceId]);
  });
}

interface Verification {
  readonly ok: boolean;
  readonly checks: readonly { name: string; ok: boolean; offending: readonly string[] }[];
}

export async function verifyLedger(engine: TestApp): Promise<Verification> {
  const answer = await engine.http.get('/v1/ledger/verify');
  expect(answer.status).toBe(200);
  return answer.body as Verification;
}

/** Returns the ledger transactions of a source, oldest first: the kind of each, and its amount for each account. */
export async function postingsOf(
  engine: TestApp,
  sourceId: string,
): Promise<readonly (readonly [string, Readonly<Record<string, number>>])[]> {
  const answer = await engine.http.get('/v1/ledger/transactions').query({ source_id: sourceId });
  expect(answer.status).toBe(200);
  const { data } = answer.body as {
    data: { kind: string; postings: { account: string; amount: number }[] }[];
  };
  return data
    .map(
      ({ kind, postings }) =>
        [
          kind,
          Object.fromEntries(postings.map(({ account, amount }) => [account, amount])),
        ] as const,
    )
    .reverse();
}
