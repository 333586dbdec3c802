import type { QueryRunner } from 'typeorm';

export interface OpenTransaction {
  readonly runner: QueryRunner;
  readonly afterCommit: (() => void)[];
  /** Client-side timeout of the transaction's statements in milliseconds, if it differs from the default. */
  answerTimeoutMs?: number;
  /** True after the transaction has ended. Its connection may then belong to another transaction. */
  isOver?: true;
}
