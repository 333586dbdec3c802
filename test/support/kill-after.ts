import { Client } from 'pg';

type Query = (this: Client, ...given: unknown[]) => unknown;

/**
 * Kills this process, like `kill -9`, at its n-th SQL statement, where n is `statements`. Depending on n, it dies
 * before, within or after a transaction, or after a commit whose answer it has not received.
 */
export function killAfter(statements: number): void {
  const prototype = Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  let left = statements;
  prototype.query = function query(this: Client, ...given: unknown[]): unknown {
    left -= 1;
    const answer = original.apply(this, given);
    // For odd numbers, the statement is sent, but the process ends before it receives the answer.
    if (left === 0 && statements % 2 === 0) process.kill(process.pid, 'SIGKILL');
    else if (left === 0) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    return answer;
  };
}
