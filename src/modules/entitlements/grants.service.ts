import { Injectable } from '@nestjs/common';
import { type Rational } from '../../core/decimal';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { invalidTransition } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type Held, holdingOf } from './domain/customer-entitlement';
import type { Grant, GrantTerms } from './domain/grant';
import { faultsOfGrant, type GrantView, MOST_GRANTS } from './domain/grant-terms';
import { spreadOver } from './domain/holding';
import { creditsOf, endGrant } from './domain/settlement';
import { grantContradicts, grantNotFound, tooManyGrants } from './entitlements.errors';
import { granted, grantVoided } from './entitlements.events';
import { GrantsRepository } from './grants.repository';
import { HoldingsRepository } from './holdings.repository';
import { HoldingsService } from './holdings.service';
import { SettleHoldingService } from './settle-holding.service';

/** Gives customers something beside what they subscribed to. */
@Injectable()
export class GrantsService {
  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsService,
    private readonly repository: HoldingsRepository,
    private readonly grants: GrantsRepository,
    private readonly settling: SettleHoldingService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Gives a customer some of an entitlement.
   * @throws {ProblemError} what `HoldingsService.lock` throws, `grant_contradicts`, `too_many_grants`
   */
  create(customerId: string, key: string, terms: GrantTerms): Promise<GrantView> {
    return this.database.transaction(async () => {
      const { held, now } = await this.holdings.lock(customerId, key);
      const { entitlement, row } = held;
      const faults = faultsOfGrant(entitlement.type, terms, now);
      if (faults.length > 0) throw grantContradicts(faults);
      if ((await this.grants.running(row)).length >= MOST_GRANTS) throw tooManyGrants(key);
      const grant: Grant = {
        ...terms,
        id: newId('grant'),
        version: 1,
        customerId,
        entitlementId: entitlement.id,
        balance: terms.value,
        endedAt: null,
        end: null,
        createdAt: now,
        updatedAt: now,
      };
      await this.grants.insert(grant);
      // What was used beyond the limit before is covered by it at once.
      const remaining = await this.remainingIn(await this.resolve(held, now));
      const view = viewOf(grant, key, remaining);
      await this.outbox.record(granted, { after: view, occurredAt: now });
      return view;
    });
  }

  /**
   * The grants of a customer for one entitlement, newest first.
   * @throws {ProblemError} what `HoldingsService.get` throws
   */
  async list(customerId: string, key: string, request: PageRequest): Promise<Page<GrantView>> {
    const { held } = await this.holdings.read(customerId, key);
    const { items, next } = await this.grants.page(held.row, request);
    const remaining = await this.remainingIn(held);
    return { items: items.map((grant) => viewOf(grant, key, remaining)), next };
  }

  /**
   * Takes a grant back: what it covered stays covered, the rest of it is gone. One that was taken back already stays so.
   * @throws {ProblemError} what `HoldingsService.lock` throws, `entitlement_grant_not_found`, `invalid_transition`
   */
  void(customerId: string, key: string, id: string): Promise<GrantView> {
    return this.database.transaction(async () => {
      const { held, now } = await this.holdings.lock(customerId, key);
      const { row } = held;
      const grant = await this.grants.find(row, id);
      if (grant === null) throw grantNotFound(id);
      if (grant.end === 'voided') return viewOf(grant, key, new Map());
      if (grant.end !== null) throw invalidTransition('grant', grant.end, 'voided');
      const before = viewOf(grant, key, await this.remainingIn(held));
      const { counter } = endGrant(
        { counter: holdingOf(held).counter, grants: await this.grants.running(row), ended: [] },
        row.allowance,
        id,
        { end: 'voided', at: now },
      );
      const voided: Grant = {
        ...grant,
        end: 'voided',
        endedAt: now,
        version: grant.version + 1,
        updatedAt: now,
      };
      await this.grants.update(voided);
      await this.repository.update({ ...row, spent: counter.spent });
      await this.resolve(held, now);
      const after = viewOf(voided, key, new Map());
      await this.outbox.record(grantVoided, { after, before, occurredAt: now });
      return after;
    });
  }

  private resolve({ entitlement, row }: Held, now: Date): Promise<Held> {
    const holder = { id: row.customerId, testClockId: row.testClockId };
    return this.settling.settle(holder, entitlement, now);
  }

  /** What is left of the grants that count, by their ids. */
  private async remainingIn(held: Held): Promise<ReadonlyMap<string, Rational>> {
    if (held.entitlement.type !== 'metered') return new Map();
    const credits = creditsOf(await this.grants.running(held.row));
    const parts = spreadOver(credits, held.row.allowance, held.row);
    return new Map(parts.map(({ credit, left }) => [credit.id, left]));
  }
}

function viewOf(grant: Grant, key: string, remaining: ReadonlyMap<string, Rational>): GrantView {
  return { grant, key, remaining: remaining.get(grant.id) ?? null };
}
