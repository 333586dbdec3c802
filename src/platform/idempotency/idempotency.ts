import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Clock } from '../clock';
import { CallScope } from '../concurrency';
import { Database } from '../database';
import {
  idempotencyKeyInUse,
  idempotencyKeyReused,
  isTemporaryRefusal,
  PlannedRollback,
} from '../errors';
import type { IdPrefix } from '../ids';
import { IdempotencyRepository } from './idempotency.repository';
import type { Answer, KeyedRequest, KnownKey } from './idempotency.types';

const RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
const FIRST_PAUSE_BETWEEN_READS_MS = 10;
const MAX_PAUSE_BETWEEN_READS_MS = 250;
/**
 * Value of `Retry-After` while a request with the same key runs. Within this time, that request usually ends, or
 * another process takes over its work.
 */
const RETRY_AFTER_SECONDS = 2;

/** Thrown if another request has claimed the key. Rolls the transaction back, so that the stored answer can be read. */
class KeyTaken extends PlannedRollback {}

export interface KeyedOutcome {
  readonly answer: Answer;
  readonly replayed: boolean;
}

export interface KeyedWork {
  /**
   * Executes the request and returns its answer. Must change nothing if it throws an error for which `answerTo` returns
   * an answer.
   */
  readonly act: () => Promise<Answer>;
  /** Returns the answer to store for an error of `act`; null if the request may be repeated. */
  readonly answerTo: (error: unknown) => Answer | null;
  /** Returns the answer in the form to store, for example encrypted. Runs in the transaction that stores it. */
  readonly stored: (answer: Answer) => Promise<Answer>;
}

interface KeyedCall {
  readonly request: KeyedRequest;
  claimed: boolean;
  /** Answer that the work has stored under the key; null if it has not stored an answer yet. */
  stored: Answer | null;
}

/** Gives all requests with the same key one effect and one answer, which is stored for 30 days. */
@Injectable()
export class Idempotency {
  /** Time for which a repeated request waits for the first one to end. Tests shorten it. */
  maxWaitForFirstRequestMs = 5_000;
  private readonly answering = new CallScope<KeyedCall>();
  private readonly waits = new Map<string, () => Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly repository: IdempotencyRepository,
    private readonly clock: Clock,
  ) {}

  atomically(request: KeyedRequest, work: KeyedWork): Promise<KeyedOutcome> {
    return this.once(request, work, () => this.claimAndStore(request, work));
  }

  /**
   * Executes work that takes several transactions. The first transaction must call `claimFor`. The last transaction
   * must call `completeFor`, or `releaseFor` after a failure. A key that already has an answer is found before the work
   * begins, so the work does not call a payment provider again.
   */
  inPhases(request: KeyedRequest, work: KeyedWork): Promise<KeyedOutcome> {
    return this.once(request, work, async () => {
      if (isAnswered(await this.find(request))) throw new KeyTaken();
      const current: KeyedCall = { request, claimed: false, stored: null };
      const answer = await this.database.commits
        .run(() => this.answering.run(current, work.act))
        .catch(async (error: unknown) => {
          // Another process may have taken the work over with the same key. Its answer is that of this request.
          const wasClaimed = current.claimed && isTemporaryRefusal(error);
          if (wasClaimed && (await this.find(request)) !== null) throw new KeyTaken();
          throw error;
        });
      invariant(current.claimed, 'The work has not claimed its idempotency key.');
      if (current.stored !== null) return current.stored;
      // Another process, or a notification from the payment provider, may have stored an answer first.
      const known = await this.find(request);
      return isAnswered(known) ? known.answer : answer;
    });
  }

  /**
   * Executes work like {@link inPhases}, for a request without a key.
   * @throws {OutcomeUnknownError} if the database fails after the first transaction
   */
  inPhasesWithoutKey<Result>(act: () => Promise<Result>): Promise<Result> {
    return this.database.commits.run(act);
  }

  /**
   * Claims the key of the current request, if the request has a key. Call it before any change, in the transaction that
   * creates the resource or begins to change it. If another request has the key, the current request must change
   * nothing.
   */
  async claimFor(resourceId: string): Promise<void> {
    this.database.requireTransaction();
    const current = this.answering.current;
    if (current === undefined) return;
    await this.claim(current.request, resourceId);
    // A claim that is rolled back does not count.
    this.database.afterCommit(() => {
      current.claimed = true;
    });
  }

  /** Stores the answer under the key that was claimed for the resource. Does nothing if there is no such key. */
  async completeFor(resourceId: string, answer: Answer): Promise<void> {
    this.database.requireTransaction();
    const key = await this.repository.completeResource(resourceId, answer);
    const { current } = this.answering;
    if (current?.request.key !== key) return;
    this.database.afterCommit(() => {
      current.stored = answer;
    });
  }

  /**
   * Releases the unanswered keys that were claimed for the resources, so that their requests can be repeated. Call it
   * when the work of these requests has ended without an answer, or can never end.
   */
  async releaseFor(resourceIds: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    await this.repository.releaseResources(resourceIds);
  }

  /**
   * Makes repeated requests call `wait` before they get the stored answer. Applies to keys whose resource id has this
   * prefix. It is for work that stores its answer and then waits: when a repeated request arrives, the first request
   * may still wait.
   */
  waitBeforeReplay(prefix: IdPrefix, wait: () => Promise<void>): void {
    this.waits.set(prefix, wait);
  }

  deleteExpired(limit: number): Promise<number> {
    return this.repository.removeExpired(this.clock.now(), limit);
  }

  private async claim(request: KeyedRequest, resourceId: string | null = null): Promise<void> {
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + RETENTION_DAYS * DAY_MS);
    const claimed = await this.repository.claim({ ...request, resourceId, createdAt, expiresAt });
    if (!claimed) throw new KeyTaken();
  }

  /**
   * Executes the work if no request has used the key; otherwise returns the stored answer. If another request with the
   * key is still running, waits for its answer. If the work is refused, stores the refusal in a transaction of its own,
   * because the transaction of the work was rolled back.
   * @throws {ProblemError} `idempotency_key_in_use` if the other request has no answer in time,
   *   `idempotency_key_reused` if the other request has another fingerprint
   */
  private async once(
    request: KeyedRequest,
    work: KeyedWork,
    run: () => Promise<Answer>,
  ): Promise<KeyedOutcome> {
    const givesUpAt = performance.now() + this.maxWaitForFirstRequestMs;
    let act = run;
    let known: KnownKey | null = null;
    for (
      let pauseMs = FIRST_PAUSE_BETWEEN_READS_MS;
      ;
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_BETWEEN_READS_MS)
    ) {
      try {
        // While another request has the key, this loop only reads until that request has stored its answer, because
        // each attempt to claim the key takes a transaction.
        if (known === null) return { answer: await act(), replayed: false };
      } catch (error) {
        if (!(error instanceof KeyTaken)) {
          const refusal = act === run ? work.answerTo(error) : null;
          if (refusal === null) throw error;
          act = () => this.claimAndStore(request, { ...work, act: () => Promise.resolve(refusal) });
          continue;
        }
      }
      known = await this.find(request);
      if (isAnswered(known)) {
        await this.waits.get(known.resourceId?.split('_', 1)[0] ?? '')?.();
        return { answer: known.answer, replayed: true };
      }
      if (performance.now() >= givesUpAt) {
        throw idempotencyKeyInUse(RETRY_AFTER_SECONDS, known?.resourceId ?? null);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  private claimAndStore(request: KeyedRequest, work: KeyedWork): Promise<Answer> {
    return this.database.transaction(async () => {
      await this.claim(request);
      const answer = await work.stored(await work.act());
      await this.repository.complete(request.key, answer);
      return answer;
    });
  }

  private async find(request: KeyedRequest): Promise<KnownKey | null> {
    const known = await this.repository.find(request.key, this.clock.now());
    if (known !== null && known.fingerprint !== request.fingerprint) throw idempotencyKeyReused();
    return known;
  }
}

function isAnswered(known: KnownKey | null): known is KnownKey & { readonly answer: Answer } {
  return known !== null && known.answer !== null;
}
