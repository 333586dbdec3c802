import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../../core/invariant';
import { isDatabaseUnavailable, isLockTimeout } from '../../../platform/database';
import type { Appended } from './append-result';
import type { KnownRequest } from './known-request';
import { MOST_IN_MEMORY } from './staged-events';
import type { IncomingEvent } from './usage-store';

/** For how long a commit waits for those that were just answered and report again. */
const LONGEST_WAIT_MS = 2;

/** The events of one request. */
export interface Waiting {
  readonly events: readonly IncomingEvent[];
  /** The same where they need nothing but to be stored and counted. */
  readonly known: KnownRequest | null;
  readonly settle: (appended: Appended) => void;
  readonly fail: (error: unknown) => void;
}

/** What became of each request of a group; null: it has to step aside. */
type WriteGroup = (group: readonly Waiting[]) => Promise<readonly (Appended | null)[]>;

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
    private readonly stepAside: (one: Waiting) => void,
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
    let appended: readonly (Appended | null)[];
    try {
      appended = await this.writeGroup(group);
    } catch (error) {
      await this.writeApart(group, error);
      return;
    }
    for (const [place, one] of group.entries()) this.answer(one, appended[place]);
  }

  /** A defect fails the request that shows it: an error here would end the lane, and all who come would wait for ever. */
  private answer(one: Waiting, appended: Appended | null | undefined): void {
    try {
      invariant(appended !== undefined, 'Each request is answered.');
      if (appended === null) this.stepAside(one);
      else one.settle(appended);
    } catch (error) {
      one.fail(error);
    }
  }

  /** What one of them has broken is not to fail the others. */
  private async writeApart(group: readonly Waiting[], error: unknown): Promise<void> {
    const [first, ...others] = group;
    const isHopeless = isDatabaseUnavailable(error) && !isLockTimeout(error);
    if (others.length === 0 || isHopeless) {
      for (const one of group) one.fail(error);
      return;
    }
    if (first !== undefined) await this.write([first]);
    for (const one of others) await this.write([one]);
  }
}
