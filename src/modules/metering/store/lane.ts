import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../../core/invariant';
import { isDatabaseUnavailable, isLockTimeout } from '../../../platform/database';
import type { Appended, NotTried } from './append-result';
import type { KnownRequest } from './known-request';
import { MOST_IN_MEMORY } from './staged-events';
import type { IncomingEvent } from './usage-store';

/** For how long a commit waits for those that were just answered and report again. */
const LONGEST_WAIT_MS = 2;

/** So many events take longer to be stored than a commit of their own takes. */
const WORTH_A_COMMIT = 500;

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

/** Those whose streams are of one share of all streams. */
interface Share {
  readonly waiting: Waiting[];
  isWriting: boolean;
}

/** Requests on their way into the same commits. Of each share of the streams one commit is under way at a time. */
export class Lane {
  private readonly shares: readonly Share[];
  private isStarting = false;
  /** Who is to be told that one more is waiting. */
  private readonly listening = new Set<() => void>();
  /** What is written is no part of the request that happened to come first. */
  private readonly outside = new AsyncResource('usage-lane');

  /** @param stepAside takes what was not tried because of a stream of it */
  constructor(
    private readonly writeGroup: WriteGroup,
    private readonly stepAside: (one: Waiting, why: NotTried) => void,
    shares = 1,
  ) {
    this.shares = Array.from({ length: shares }, () => ({ waiting: [], isWriting: false }));
  }

  /** Whether nobody waits here, and nothing is under way. */
  get isIdle(): boolean {
    return !this.isWriting && countOf(this.shares) === 0;
  }

  private get isWriting(): boolean {
    return this.shares.some(({ isWriting }) => isWriting);
  }

  /** What became of the events, once they are written here or by who takes what had to step aside. */
  put(events: readonly IncomingEvent[], known: KnownRequest | null): Promise<Appended> {
    return new Promise((settle, fail) => this.add({ events, known, settle, fail, tries: 0 }));
  }

  add(one: Waiting): void {
    // What stepped aside comes from a lane of more shares.
    const share = this.shares[(one.known?.share ?? 0) % this.shares.length];
    invariant(share !== undefined, 'A lane has a share.');
    share.waiting.push(one);
    for (const tell of this.listening) tell();
    if (this.isStarting || share.isWriting) return;
    this.isStarting = true;
    // The parts of a request come one after the other.
    this.outside.runInAsyncScope(() => queueMicrotask(() => this.start()));
  }

  /** Each share by itself, at the same time; what is little for that goes together, once nothing is under way. */
  private start(): void {
    this.isStarting = false;
    const due = this.shares.filter(({ isWriting, waiting }) => !isWriting && waiting.length > 0);
    const isLittle = lengthOf(due.flatMap(({ waiting }) => waiting)) < WORTH_A_COMMIT;
    if (!isLittle) for (const share of due) void this.writeAll([share]);
    else if (due.length > 0 && !this.isWriting) void this.writeAll(due);
  }

  /**
   * Half of those who report at the same time write while the other half is read and answered: else one event that came
   * first is a commit of its own, and all others wait for it.
   */
  private async writeAll(shares: readonly Share[]): Promise<void> {
    for (const share of shares) share.isWriting = true;
    const group = take(shares);
    await this.write(group);
    await this.until(shares, Math.floor((group.length + countOf(shares)) / 2));
    for (const share of shares) share.isWriting = false;
    this.start();
  }

  private until(shares: readonly Share[], count: number): Promise<void> | undefined {
    if (countOf(shares) >= count) return undefined;
    return new Promise((resolve) => {
      const isThere = (): void => {
        clearTimeout(timer);
        this.listening.delete(listen);
        resolve();
      };
      const listen = (): void => {
        if (countOf(shares) >= count) isThere();
      };
      const timer = setTimeout(isThere, LONGEST_WAIT_MS);
      this.listening.add(listen);
    });
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

/** How many requests wait. */
function countOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { waiting }) => sum + waiting.length, 0);
}

/** How many events they have. */
function lengthOf(requests: readonly Waiting[]): number {
  return requests.reduce((sum, { events }) => sum + events.length, 0);
}

/** As many of each as fit into one statement, and at least one. */
function take(shares: readonly Share[]): readonly Waiting[] {
  return shares.flatMap(({ waiting }) => {
    let events = 0;
    const tooMany = waiting.findIndex((one, place) => {
      events += one.events.length;
      return place > 0 && events > MOST_IN_MEMORY;
    });
    return waiting.splice(0, tooMany === -1 ? waiting.length : tooMany);
  });
}
