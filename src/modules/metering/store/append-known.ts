import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { type Appended, apart, type NotTried } from './append-result';
import { ON_PARAMETERS, RECORD_KNOWN } from './append-sql';
import { type KnownRequest, KnownRequests } from './known-request';
import { KnownStreams } from './known-streams';

interface Recorded {
  readonly accepted: number;
  readonly positions: readonly string[] | null;
  readonly held: readonly number[] | null;
  readonly unchanged: readonly number[] | null;
}

/** Stores events that need nothing but to be stored and counted, with one statement that is a commit of its own. */
@Injectable()
export class AppendKnown {
  constructor(
    private readonly database: Database,
    private readonly known: KnownStreams,
    private readonly clock: Clock,
  ) {}

  /** What became of each request, or why it was not tried. */
  async append(requests: readonly KnownRequest[]): Promise<readonly (Appended | NotTried)[]> {
    const together = new KnownRequests(requests);
    const now = this.clock.now();
    const parameters = together.recordParameters(now);
    const [recorded] = await this.database.autocommit(() =>
      this.database.prepared<Recorded>('usage-record-known', RECORD_KNOWN, parameters),
    );
    invariant(recorded !== undefined, 'A statement that stores usage tells what it stored.');
    const { accepted, positions } = recorded;
    if (positions === null) return this.appendHeld(together, recorded);
    const missed = accepted === together.length ? [] : await this.judge(together, now, positions);
    invariant(
      missed.length === together.length - accepted,
      'Each event that was not stored is judged.',
    );
    return apart(requests, missed);
  }

  /** Tries those again whose streams could all be held. */
  private async appendHeld(
    together: KnownRequests,
    { held, unchanged }: Recorded,
  ): Promise<readonly (Appended | NotTried)[]> {
    const asKnown = new Set(unchanged);
    for (const name of together.namesWithout(asKnown)) this.known.forget(name);
    const places = new Set(held);
    const free = together.requests.filter((request) => together.isWithin(request, places));
    const appended = free.length === 0 ? [] : await this.append(free);
    const resultOf = new Map(free.map((request, at) => [request, appended[at]]));
    return together.requests.map(
      (request) =>
        resultOf.get(request) ?? (together.isWithin(request, asKnown) ? 'busy' : 'changed'),
    );
  }

  private judge(
    together: KnownRequests,
    now: Date,
    positions: readonly string[],
  ): Promise<Appended['missed'][number][]> {
    const parameters = together.judgeParameters(now, positions);
    return this.database.autocommit(() => this.database.query(ON_PARAMETERS.judge, parameters));
  }
}
