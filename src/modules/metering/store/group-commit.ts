import { AsyncResource } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { isDatabaseUnavailable, isLockTimeout } from '../../../platform/database';
import type { Appended } from './append-result';
import { AppendUsage } from './append-usage';
import { MOST_IN_MEMORY } from './staged-events';
import type { IncomingEvent } from './usage-store';
import type { Patience } from './usage-streams';

/** For how long a commit waits for those that were just answered and report again. */
const LONGEST_WAIT_MS = 2;

/** The events of one request. */
interface Waiting {
  readonly events: readonly IncomingEvent[];
  readonly settle: (appended: Appended) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Writes requests together: whatever came while the last commit was under way goes into the next. A request that finds a
 * stream held steps aside as a whole, so that nobody waits for a stream that is not its own: single events into a lane
 * that waits, lists each by itself. A single event never waits for a list.
 */
@Injectable()
export class GroupCommit {
  private readonly singles: Lane;
  private readonly lists: Lane;

  constructor(append: AppendUsage) {
    const patient = new Lane(append, 'wait', () =>
      invariant(false, 'The last lane waits for whatever is held.'),
    );
    this.singles = new Lane(append, 'skip', (one) => patient.add(one));
    this.lists = new Lane(append, 'skip', ({ events, settle, fail }) => {
      append.append(events).then(settle, fail);
    });
  }

  /** What became of the events; known once that is committed. */
  write(events: readonly IncomingEvent[]): Promise<Appended> {
    const lane = events.length > 1 ? this.lists : this.singles;
    return new Promise((settle, fail) => lane.add({ events, settle, fail }));
  }
}

class Lane {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;
  /** Called once as many wait as the next commit is for. */
  private awaited: { readonly count: number; readonly isThere: () => void } | null = null;
  /** What is written is no part of the request that happened to come first. */
  private readonly outside = new AsyncResource('usage-lane');

  /** @param stepAside takes what was not tried because somebody holds a stream of it */
  constructor(
    private readonly append: AppendUsage,
    private readonly patience: Patience,
    private readonly stepAside: (one: Waiting) => void,
  ) {}

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
    let appended: readonly Appended[];
    try {
      appended = await this.appendTogether(group);
    } catch (error) {
      await this.writeApart(group, error);
      return;
    }
    for (const [place, one] of group.entries()) this.answer(one, appended[place]);
  }

  /** What became of each. */
  private async appendTogether(group: readonly Waiting[]): Promise<readonly Appended[]> {
    const requestOf = group.flatMap(({ events }, place) => events.map(() => place));
    const events = group.flatMap((one) => one.events);
    const numbered = events.map((event, index) => ({ ...event, index }));
    const { missed } = await this.append.append(numbered, this.patience, requestOf);
    const missedOf = group.map((): Appended['missed'][number][] => []);
    for (const { index, verdict } of missed) {
      missedOf[requestOf[index] ?? -1]?.push({ index: events[index]?.index ?? -1, verdict });
    }
    return group.map((one, place) => {
      const ofOne = missedOf[place] ?? [];
      return { accepted: one.events.length - ofOne.length, missed: ofOne };
    });
  }

  private answer(one: Waiting, appended: Appended | undefined): void {
    invariant(appended !== undefined, 'Each request is answered.');
    if (appended.missed[0]?.verdict === 'busy') this.stepAside(one);
    else one.settle(appended);
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
