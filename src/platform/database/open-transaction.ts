import type { QueryRunner } from 'typeorm';

/** The transaction of the current call. */
export interface OpenTransaction {
  readonly runner: QueryRunner;
  readonly afterCommit: (() => void)[];
  /** Client-side timeout of its statements, if longer than the default. */
  answerTimeoutMs?: number;
  /** True once the transaction has ended. Its connection may then belong to another one. */
  isOver?: true;
}
