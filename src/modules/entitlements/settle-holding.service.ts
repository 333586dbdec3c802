import { Injectable } from '@nestjs/common';
import { add, type Rational, ZERO } from '../../core/decimal';
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
import {
  carriedInto,
  endGrant,
  isSameWindow,
  nextBorder,
  reset,
  type Settlement,
  windowFor,
} from './domain/settlement';
import { EntitlementsRepository } from './entitlements.repository';
import { GrantsRepository } from './grants.repository';
import { type AccessHolder, HoldingsRepository } from './holdings.repository';
import { type Given, SourcesService } from './sources.service';

/** Resolves what a customer has, and brings what it used and its grants forward to an instant. */
@Injectable()
export class SettleHoldingService {
  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsRepository,
    private readonly entitlements: EntitlementsRepository,
    private readonly grants: GrantsRepository,
    private readonly sources: SourcesService,
  ) {}

  /**
   * Resolves one entitlement of a customer anew and keeps the result, in the caller's transaction, which holds its row from
   * then on.
   */
  async settle(holder: AccessHolder, entitlement: Held['entitlement'], now: Date): Promise<Held> {
    this.database.requireTransaction();
    const before = await this.holdings.lock(holder, entitlement.id, newId('cent'), now);
    // Read before what they count: a commit in between leaves them too low, and the result is found to be old.
    const accessVersion = await this.holdings.accessVersionOf(holder);
    const rulesVersion = await this.entitlements.rulesVersionOf(entitlement.id);
    const given = await this.sources.given(holder.id, entitlement.id, now);
    const running = await this.grants.running({
      customerId: holder.id,
      entitlementId: entitlement.id,
    });
    // Whatever changes subscriptions settles in its commit what has grants: until then the former allowance held.
    const hadSameAccess = before.accessVersion === accessVersion;
    const allowance = !before.isHeld
      ? ZERO
      : hadSameAccess && given.lead !== null
        ? given.amount
        : before.allowance;
    const start = { counter: counterOf(before), grants: running, ended: [] };
    const after =
      entitlement.type === 'metered'
        ? forward(start, given, allowance, now)
        : withoutExpired(start, now);
    await this.keepGrants(running, after, now);
    const row = rowOf(
      { ...before, accessVersion, rulesVersion },
      { entitlement, given, after },
      now,
    );
    await this.holdings.update(row);
    return { entitlement, row };
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
}

function counterOf(row: HoldingRow) {
  return { window: windowOf(row), used: row.used, spent: row.spent, told: row.told };
}

/** Passes every border up to now, in their order, and enters the window that holds it. */
function forward(
  start: Settlement,
  given: Given,
  allowance: Rational | null,
  now: Date,
): Settlement {
  let state = start;
  if (given.lead === null && state.grants.length === 0) return state;
  for (
    let border = nextBorder(state, now);
    border !== null && state.grants.length > 0;
    border = nextBorder(state, now)
  ) {
    state =
      border.kind === 'expiry'
        ? endGrant(state, allowance, border.grantId, { end: 'expired', at: border.at })
        : reset(state, allowance, windowFor(given.lead, state.counter.window, border.at));
  }
  const target = windowFor(given.lead, state.counter.window, now);
  const { window } = state.counter;
  if (isSameWindow(window, target))
    return { ...state, counter: { ...state.counter, window: target } };
  return (window?.endAt ?? null) === null
    ? carriedInto(state, allowance, target)
    : reset(state, allowance, target);
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
  const { given, after } = found;
  const { counter, grants } = after;
  const isHeld = given.sources.length > 0 || grants.length > 0;
  return {
    ...before,
    version: before.version + 1,
    validUntil: earliest([
      given.until,
      isHeld ? (counter.window?.endAt ?? null) : null,
      ...grants.map(({ expiresAt }) => expiresAt),
    ]),
    isHeld,
    allowance: given.amount,
    granted: grants.reduce((total, { balance }) => add(total, balance ?? ZERO), ZERO),
    isOverageAllowed: given.isOverageAllowed,
    reset: counter.window?.reset ?? null,
    windowStartAt: counter.window?.startAt ?? null,
    windowEndAt: counter.window?.endAt ?? null,
    used: counter.used,
    spent: counter.spent,
    told: counter.told,
    sources: [...given.sources.map(viewOfSource), ...grants.map(viewOfGrant)],
    leaseEndsAt: null,
    updatedAt: now,
  };
}
