import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Turns } from '../turns';
import { AppendKnown } from './append-known';
import { apart, type Appended, joined, type NotTried } from './append-result';
import { AppendUsage, lastInstantAt } from './append-usage';
import { KnownRequest } from './known-request';
import { KnownStreams } from './known-streams';
import { Lane, type Waiting } from './lane';
import type { IncomingEvent } from './usage-store';
import { type Patience, streamKey } from './usage-streams';

/** How many waits for streams there are at a time, of single events and of lists; each takes a connection. */
const MOST_WAITS = 4;
const MOST_LANES = 100;
/** How often a single event on a known stream that is busy is tried anew before it waits. */
const MOST_TRIES = 2;

/** A single event never waits for a list. */
interface Lanes {
  readonly singles: Lane;
  readonly lists: Lane;
}

/** Into how many shares the streams are divided, each of which is written by a connection of its own. */
const SHARES = 2;

/**
 * Writes requests together: whatever came while the last commit was under way goes into the next. A request that finds a
 * stream held steps aside as a whole, so that nobody waits for a stream that is not its own: single events into a lane of
 * that stream, lists each by itself. Requests on streams that are known go into lanes of their own, lists in two parts, and
 * into the others if somebody holds a stream of theirs or it is not as it was known.
 */
@Injectable()
export class GroupCommit {
  private readonly ofAny: Lanes;
  private readonly ofKnown: Lanes;
  private readonly patient = new Map<string, Lane>();
  private readonly waits = new Turns(MOST_WAITS);
  private readonly listWaits = new Turns(MOST_WAITS);

  constructor(
    private readonly appending: AppendUsage,
    private readonly appendingKnown: AppendKnown,
    private readonly knownStreams: KnownStreams,
    private readonly clock: Clock,
  ) {
    this.ofAny = {
      singles: new Lane(
        (group) => this.append(group, 'skip'),
        (one) => this.patientLane(one).add(one),
      ),
      lists: new Lane(
        (group) => this.append(group, 'skip'),
        ({ events, settle, fail }) => {
          this.listWaits.take(() => this.appending.append(events)).then(settle, fail);
        },
      ),
    };
    this.ofKnown = {
      singles: new Lane(
        (group) => this.appendKnown(group),
        (one, why) => this.tryAgain(one, why),
      ),
      lists: new Lane(
        (group) => this.appendKnown(group),
        (one) => this.ofAny.lists.add(one),
        SHARES,
      ),
    };
  }

  /** What became of the events; known once that is committed. */
  async write(events: readonly IncomingEvent[]): Promise<Appended> {
    if (events.length === 0) return { accepted: 0, missed: [] };
    const parts = this.knownParts(events) ?? (await this.learnedParts(events));
    const lanes = parts === null ? this.ofAny : this.ofKnown;
    const lane = events.length > 1 ? lanes.lists : lanes.singles;
    if (parts === null) return lane.put(events, null);
    return joined(await Promise.all(parts.map((part) => lane.put(part.events, part))));
  }

  private knownParts(events: readonly IncomingEvent[]): readonly KnownRequest[] | null {
    const lastInstant = lastInstantAt(this.clock.now());
    const shares = events.length > 1 ? SHARES : 1;
    return KnownRequest.partsOf(events, shares, (name) => this.knownStreams.get(name), lastInstant);
  }

  private async learnedParts(
    events: readonly IncomingEvent[],
  ): Promise<readonly KnownRequest[] | null> {
    const unknown = events.filter((event) => this.knownStreams.get(event) === undefined);
    if (unknown.length === 0) return null;
    await this.knownStreams.learn(unknown);
    return this.knownParts(events);
  }

  /** Another process holds a stream for as long as a commit takes: the next one will mostly find it free. */
  private tryAgain(one: Waiting, why: NotTried): void {
    one.tries += 1;
    if (why === 'changed') this.ofAny.singles.add(one);
    else if (one.tries <= MOST_TRIES) this.ofKnown.singles.add(one);
    else this.patientLane(one).add(one);
  }

  /** Those who wait for one stream share its commits; who waits for another is not held up by them. */
  private patientLane({ events }: Waiting): Lane {
    const [event] = events;
    const key = event === undefined ? '' : streamKey(event);
    const known = this.patient.get(key);
    if (known !== undefined) return known;
    if (this.patient.size >= MOST_LANES) {
      for (const [other, lane] of this.patient) if (lane.isIdle) this.patient.delete(other);
    }
    const made = new Lane(
      (group) => this.waits.take(() => this.append(group, 'wait')),
      () => invariant(false, 'Who waits for a stream gets it.'),
    );
    this.patient.set(key, made);
    return made;
  }

  private async append(
    group: readonly Waiting[],
    patience: Patience,
  ): Promise<readonly (Appended | NotTried)[]> {
    const requestOf = group.flatMap(({ events }, place) => events.map(() => place));
    const events = group.flatMap((one) => one.events);
    const numbered = events.map((event, index) => ({ ...event, index }));
    const { missed } = await this.appending.append(numbered, patience, requestOf);
    return apart(group, missed).map((one) => (one.missed[0]?.verdict === 'busy' ? 'busy' : one));
  }

  private appendKnown(group: readonly Waiting[]): Promise<readonly (Appended | NotTried)[]> {
    return this.appendingKnown.append(group.flatMap(({ known }) => known ?? []));
  }
}
