import { Injectable } from '@nestjs/common';
import { Clock } from '../clock';
import { CallScope, Database } from '../database';
import { idempotencyKeyInUse, idempotencyKeyReused } from '../errors';
import { IdempotencyRepository } from './idempotency.repository';
import type { Answer, KeyedRequest } from './idempotency.types';

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const LONGEST_WAIT_MS = 5_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** Another request has the key: roll back, and look at what it made of it. */
class KeyTaken extends Error {}

export interface Outcome {
  readonly answer: Answer;
  readonly replayed: boolean;
}

/** What a request with a key is given to do. */
export interface KeyedWork {
  /** Does the effect and returns its answer; whatever it throws was no effect. */
  readonly act: () => Promise<Answer>;
  /** The answer to keep for what `act` threw, or null where the same request may be tried again. */
  readonly answerTo: (error: unknown) => Answer | null;
}

/** The same request with the same key has one effect and one answer, kept for 30 days. */
@Injectable()
export class Idempotency {
  private readonly answering = new CallScope<{ request: KeyedRequest; claimed: boolean }>();

  constructor(
    private readonly database: Database,
    private readonly repository: IdempotencyRepository,
    private readonly clock: Clock,
  ) {}

  /** Claim, effect and stored answer in one commit. */
  atomically(request: KeyedRequest, work: KeyedWork): Promise<Outcome> {
    return this.once(request, work, () =>
      this.database.transaction(async () => {
        await this.claim(request, null);
        const answer = await work.act();
        await this.repository.complete(request.key, answer);
        return answer;
      }),
    );
  }

  /**
   * For effects with a gateway call between two commits: the work claims with `claimFor` in its first transaction and
   * stores the answer with `completeFor` in its last. Work that has nothing to claim for gets its answer stored after it.
   */
  inPhases(request: KeyedRequest, work: KeyedWork): Promise<Outcome> {
    return this.once(request, work, async () => {
      const current = { request, claimed: false };
      const answer = await this.answering.run(current, work.act);
      if (!current.claimed) await this.keep(request, answer);
      return answer;
    });
  }

  /**
   * Claims the key of the request being answered, if it has one, in the transaction that makes the resource. First thing
   * in that transaction: a request that lost the race must have done nothing yet.
   */
  async claimFor(resourceId: string): Promise<void> {
    this.database.requireTransaction();
    const current = this.answering.current;
    if (current === undefined) return;
    await this.claim(current.request, resourceId);
    // A claim that is rolled back leaves the key to whoever stores the answer afterwards.
    this.database.afterCommit(() => {
      current.claimed = true;
    });
  }

  /** Stores the answer about a resource for whoever claimed a key for it; nothing if nobody did. */
  async completeFor(resourceId: string, answer: Answer): Promise<void> {
    this.database.requireTransaction();
    await this.repository.completeResource(resourceId, answer);
  }

  /** Forgets keys that were kept long enough; returns how many, at most the number given. */
  removeExpired(most: number): Promise<number> {
    return this.repository.removeExpired(this.clock.now(), most);
  }

  private async claim(request: KeyedRequest, resourceId: string | null): Promise<void> {
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + KEPT_DAYS * DAY_MS);
    const claimed = await this.repository.claim({ ...request, resourceId, createdAt, expiresAt });
    if (!claimed) throw new KeyTaken();
  }

  private async once(
    request: KeyedRequest,
    work: KeyedWork,
    run: () => Promise<Answer>,
  ): Promise<Outcome> {
    const givesUpAt = performance.now() + LONGEST_WAIT_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return { answer: await run(), replayed: false };
      } catch (error) {
        if (!(error instanceof KeyTaken)) return await this.keepRefusal(request, work, error);
      }
      const stored = await this.storedAnswer(request);
      if (stored !== null) return { answer: stored, replayed: true };
      if (performance.now() >= givesUpAt) throw idempotencyKeyInUse();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /**
   * A refusal changed nothing, so its answer is kept in a commit of its own. If another request with the key came in
   * between, that one's answer stands for both.
   */
  private async keepRefusal(
    request: KeyedRequest,
    work: KeyedWork,
    error: unknown,
  ): Promise<Outcome> {
    const answer = work.answerTo(error);
    if (answer === null) throw error;
    try {
      await this.keep(request, answer);
      return { answer, replayed: false };
    } catch (failure) {
      if (!(failure instanceof KeyTaken)) throw failure;
      const stored = await this.storedAnswer(request);
      if (stored === null) throw idempotencyKeyInUse();
      return { answer: stored, replayed: true };
    }
  }

  private keep(request: KeyedRequest, answer: Answer): Promise<void> {
    return this.database.transaction(async () => {
      await this.claim(request, null);
      await this.repository.complete(request.key, answer);
    });
  }

  private async storedAnswer(request: KeyedRequest): Promise<Answer | null> {
    const known = await this.repository.find(request.key, this.clock.now());
    if (known === null) return null;
    if (known.fingerprint !== request.fingerprint) throw idempotencyKeyReused();
    return known.answer;
  }
}
