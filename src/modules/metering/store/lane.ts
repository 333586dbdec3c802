import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../../core/invariant';
import { isDatabaseUnavailable, isLockTimeout } from '../../../platform/database';
import type { Appended, NotTried } from './append-result';
import type { KnownRequest } from './known-request';
import { MOST_IN_MEMORY } from './staged-events';
import type { IncomingEvent } from './usage-store';

/** For how long a commit waits for those that were just answered and report again. */
const LONGEST_WAIT_MS = 2;

/** How many requests of a group may wait in vain, each for the whole time a lock is waited for. */
const MOST_TIMEOUTS = 2;

/** The events of one request. */
export interface Waiting {
  readonly events: readonly IncomingEvent[];
  /** The same where they need nothing but to be stored and counted. */
  readonly known: KnownRequest | null;
  readonly settle: (appended: Appended) => void;
  readonly fail: (error: unknown) => void;
  /** How often it had to step aside. */
  tries: number;
}

/** What became of each request of a group, or why it has to step aside. */
type WriteGroup = (group: readonly Waiting[]) => Promise<readonly (Appended | NotTried)[]>;

/** Requests on their way into the same commits. */
export class Lane {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;
  /** Called once as many wait as the next commit is for. */
  private awaited: { readonly count: number; readonly isThere: () => void } | null = null;
  /** What is written is no part of the request that happened to come first. */
  private readonly outside = new AsyncResource('usage-lane');

  /** @param stepAside takes what was not tried because of a stream of it */
  constructor(
    private readonly writeGroup: WriteGroup,
    private readonly stepAside: (one: Waiting, why: NotTried) => void,
  ) {}

  get isIdle(): boolean {
    return !this.isWriting;
  }

  add(one: Waiting): void {
    this.waiting.push(one);
    if (this.awaited !== null && this.waiting.length >= this.awaited.count) this.awaited.isThere();
    if (this.isWriting) return;
    this.isWriting = true;
    this.outside.runInAsyncScope(() => void this.writeAll());
  }

  /**
   * Half of those who report at the same time write while the other half is read and answered: else one event that came
   * first is a commit of its own, and all others wait for it.
   */
  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.take();
      await this.write(group);
      await this.until(Math.floor((group.length + this.waiting.length) / 2));
    }
    this.isWriting = false;
  }

  private until(count: number): Promise<void> | undefined {
    if (this.waiting.length >= count) return undefined;
    return new Promise((resolve) => {
      const isThere = (): void => {
        clearTimeout(timer);
        this.awaited = null;
        resolve();
      };
      const timer = setTimeout(isThere, LONGEST_WAIT_MS);
      this.awaited = { count, isThere };
    });
  }

  /** As many as fit into one statement, and at least one. */
  private take(): readonly Waiting[] {
    let events = 0;
    const tooMany = this.waiting.findIndex((one, place) => {
      events += one.events.length;
      return place > 0 && events > MOST_IN_MEMORY;
    });
    return this.waiting.splice(0, tooMany === -1 ? this.waiting.length : tooMany);
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    const failure = await this.tryToWrite(group);
    if (failure !== null) await this.writeApart(group, failure);
  }

  /** Why it failed; null if it did not. */
  private async tryToWrite(
    group: readonly Waiting[],
  ): Promise<{ readonly reason: unknown } | null> {
    try {
      const appended = await this.writeGroup(group);
      for (const [place, one] of group.entries()) this.answer(one, appended[place]);
      return null;
    } catch (reason) {
      return { reason };
    }
  }

  /** A defect fails the request that shows it: an error here would end the lane, and all who come would wait for ever. */
  private answer(one: Waiting, appended: Appended | NotTried | undefined): void {
    try {
      invariant(appended !== undefined, 'Each request is answered.');
      if (typeof appended === 'string') this.stepAside(one, appended);
      else one.settle(appended);
    } catch (error) {
      one.fail(error);
    }
  }

  /**
   * What one of them has broken is not to fail the others; but where two wait in vain for what somebody holds, so would
   * the rest, and others behind them.
   */
  private async writeApart(
    group: readonly Waiting[],
    { reason }: { readonly reason: unknown },
  ): Promise<void> {
    let timeouts = 0;
    const isHopeless = isDatabaseUnavailable(reason) && !isLockTimeout(reason);
    for (const one of group) {
      const failure =
        group.length === 1 || isHopeless || timeouts >= MOST_TIMEOUTS
          ? { reason }
          : await this.tryToWrite([one]);
      if (failure === null) continue;
      one.fail(failure.reason);
      if (isLockTimeout(failure.reason)) timeouts += 1;
    }
  }
}
