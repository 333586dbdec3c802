import { Injectable } from '@nestjs/common';
import { add, compare, type Rational, ZERO } from '../../core/decimal';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { earliest } from './domain/access';
import {
  type Held,
  type HoldingRow,
  viewOfGrant,
  viewOfSource,
  windowOf,
} from './domain/customer-entitlement';
import type { Grant } from './domain/grant';
import { withUsed } from './domain/holding';
import type { ResetWindow } from './domain/reset-window';
import {
  type Border,
  carriedInto,
  endGrant,
  isSameWindow,
  nextBorder,
  reset,
  type Settlement,
  windowFor,
  withoutOldWindow,
} from './domain/settlement';
import { EntitlementsRepository } from './entitlements.repository';
import { GrantsRepository } from './grants.repository';
import { type AccessHolder, HoldingsRepository } from './holdings.repository';
import { MeteredUsageService } from './metered-usage.service';
import { ReachedService } from './reached.service';
import { type Given, SourcesService } from './sources.service';

/** What is settled, for whom and when. */
interface Case {
  readonly holder: AccessHolder;
  readonly entitlement: Held['entitlement'];
  readonly now: Date;
}

/** Resolves what a customer has, and brings what it used and its grants forward to an instant. */
@Injectable()
export class SettleHoldingService {
  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsRepository,
    private readonly entitlements: EntitlementsRepository,
    private readonly grants: GrantsRepository,
    private readonly sources: SourcesService,
    private readonly usage: MeteredUsageService,
    private readonly reached: ReachedService,
  ) {}

  /**
   * Resolves one entitlement of a customer anew and keeps the result, in the caller's transaction, which holds its row from
   * then on.
   */
  async settle(holder: AccessHolder, entitlement: Held['entitlement'], now: Date): Promise<Held> {
    this.database.requireTransaction();
    const one = { holder, entitlement, now };
    await this.holdStream(one);
    const before = await this.holdings.lock(holder, entitlement.id, newId('cent'), now);
    // Read before what they count: a commit in between leaves them too low, and the result is found to be old.
    const accessVersion = await this.holdings.accessVersionOf(holder);
    const rulesVersion = await this.entitlements.rulesVersionOf(entitlement.id);
    const given = await this.sources.given(holder.id, entitlement.id, now);
    const running = await this.grants.running(before);
    // Until now what was resolved last has held: a change counts from the first question after it.
    const allowance = before.isHeld ? before.allowance : ZERO;
    const start = { counter: counterOf(before), grants: running, ended: [] };
    const after =
      entitlement.type === 'metered'
        ? await this.forward(one, start, given, allowance)
        : withoutExpired(start, now);
    await this.keepGrants(running, after, now);
    const row = rowOf(
      { ...before, accessVersion, rulesVersion },
      { entitlement, given, after },
      now,
    );
    await this.holdings.update(row);
    return this.entered(one, before, row);
  }

  /** Writes the grants that differ from what they were. */
  private async keepGrants(
    before: readonly Grant[],
    { grants, ended }: Settlement,
    now: Date,
  ): Promise<void> {
    for (const grant of [...grants, ...ended]) {
      if (before.includes(grant)) continue;
      await this.grants.update({ ...grant, version: grant.version + 1, updatedAt: now });
    }
  }

  /** Whoever stores events holds the stream before it comes to rows of what customers have: so does whoever settles them. */
  private async holdStream({ holder, entitlement, now }: Case): Promise<void> {
    if (entitlement.meterId === null) return;
    const { lead } = await this.sources.given(holder.id, entitlement.id, now);
    const current = await this.holdings.findWindow(holder.id, entitlement.id);
    const window = lead === null ? current : windowFor(lead, current, now);
    if (window !== null) await this.usage.hold(holder.id, entitlement.meterId, window);
  }

  /** Passes every border up to now, in their order, and enters the window that holds it. */
  private async forward(
    one: Case,
    start: Settlement,
    given: Given,
    allowance: Rational | null,
  ): Promise<Settlement> {
    const { now } = one;
    let state = start;
    if (given.lead === null && state.grants.length === 0) return withoutOldWindow(state, now);
    for (
      let border = nextBorder(state, now);
      border !== null && state.grants.length > 0;
      border = nextBorder(state, now)
    ) {
      state = await this.countedUpTo(one, state, border);
      state =
        border.kind === 'expiry'
          ? endGrant(state, allowance, border.grantId, { end: 'expired', at: border.at })
          : reset(state, allowance, windowFor(given.lead, state.counter.window, border.at));
    }
    const target = windowFor(given.lead, state.counter.window, now);
    const { window } = state.counter;
    if (isSameWindow(window, target)) {
      state = { ...state, counter: { ...state.counter, window: target } };
    } else if ((window?.endAt ?? null) === null) {
      state = carriedInto(state, allowance, target);
    } else {
      state = reset(state, allowance, target);
    }
    return this.countedIn(one, state, { window: target, allowance: given.amount });
  }

  /** With what was used when a border came: what is consumed is settled before it counts, what a meter counts is read. */
  private async countedUpTo(
    { holder, entitlement: { meterId } }: Case,
    state: Settlement,
    { at }: Border,
  ): Promise<Settlement> {
    const { counter } = state;
    if (meterId === null || counter.window === null || counter.window.startAt >= at) return state;
    const part = { startAt: counter.window.startAt, endAt: at };
    const used = await this.usage.within(holder.id, meterId, part);
    return { ...state, counter: { ...counter, used } };
  }

  /** With what a meter counts in a window, which it is opened for. */
  private async countedIn(
    { holder, entitlement: { meterId } }: Case,
    state: Settlement,
    { window, allowance }: { readonly window: ResetWindow; readonly allowance: Rational | null },
  ): Promise<Settlement> {
    if (meterId === null) return state;
    const used = await this.usage.open(holder.id, meterId, window);
    const isSame = compare(used, state.counter.used) === 0;
    return isSame ? state : { ...state, counter: withUsed(state.counter, used, allowance) };
  }

  /** Where a meter's window is another one than before: lets go of that, and tells of what is used of this one already. */
  private async entered(
    { holder, entitlement, now }: Case,
    before: HoldingRow,
    row: HoldingRow,
  ): Promise<Held> {
    const held = { entitlement, row };
    const { meterId } = entitlement;
    const [former, current] = [windowOf(before), windowOf(row)];
    if (meterId === null || isSameSpan(former, current)) return held;
    if (former !== null) await this.usage.close(holder.id, meterId, former);
    if (current === null) return held;
    const [after] = await this.reached.move([{ held, used: row.used, now }]);
    return after ?? held;
  }
}

function isSameSpan(one: ResetWindow | null, other: ResetWindow | null): boolean {
  if (one === null || other === null) return one === other;
  return isSameWindow(one, other) && one.endAt?.getTime() === other.endAt?.getTime();
}

function counterOf(row: HoldingRow) {
  const { used, spent, covered, told } = row;
  return { window: windowOf(row), used, spent, covered, told };
}

/** What is not counted has no windows; a grant holds until it expires. */
function withoutExpired(start: Settlement, now: Date): Settlement {
  const isOver = ({ expiresAt }: Grant): boolean => expiresAt !== null && expiresAt <= now;
  return {
    ...start,
    grants: start.grants.filter((grant) => !isOver(grant)),
    ended: start.grants
      .filter(isOver)
      .map((grant) => ({ ...grant, end: 'expired' as const, endedAt: grant.expiresAt })),
  };
}

function rowOf(
  before: HoldingRow,
  found: {
    readonly entitlement: Held['entitlement'];
    readonly given: Given;
    readonly after: Settlement;
  },
  now: Date,
): HoldingRow {
  const { entitlement, given, after } = found;
  const { counter, grants } = after;
  const isHeld = given.sources.length > 0 || grants.length > 0;
  const windowEndAt = counter.window?.endAt ?? null;
  const holdsUntil = [given.until, ...grants.map(({ expiresAt }) => expiresAt)];
  // A renewal opens the next window itself; all else comes whether anything is written or not.
  const isRenewed = given.lead !== null && counter.window?.reset === 'period';
  const isFollowed = isHeld && entitlement.meterId !== null;
  return {
    ...before,
    version: before.version + 1,
    validUntil: earliest([windowEndAt, ...holdsUntil]),
    isHeld,
    allowance: given.amount,
    granted: grants.reduce((total, { balance }) => add(total, balance ?? ZERO), ZERO),
    isOverageAllowed: given.isOverageAllowed,
    reset: counter.window?.reset ?? null,
    windowStartAt: counter.window?.startAt ?? null,
    windowEndAt,
    used: counter.used,
    spent: counter.spent,
    covered: counter.covered,
    told: counter.told,
    sources: [...given.sources.map(viewOfSource), ...grants.map(viewOfGrant)],
    dueAt: isFollowed ? earliest([isRenewed ? null : windowEndAt, ...holdsUntil]) : null,
    leaseEndsAt: null,
    updatedAt: now,
  };
}
