import { Injectable } from '@nestjs/common';
import { type Rational } from '../../core/decimal';
import { changedAt, nextVersion } from '../../core/next-version';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { invalidTransition, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { type BalanceRecord, counterOf } from './domain/customer-entitlement';
import type { Grant, GrantTerms } from './domain/grant';
import { faultsOfGrant, type GrantView, MAX_GRANTS } from './domain/grant-terms';
import { endGrant } from './domain/recalculation';
import { grantContradicts, grantNotFound, tooManyGrants } from './entitlements.errors';
import { granted, grantVoided } from './entitlements.events';
import { GrantsRepository } from './grants.repository';
import { BalancesRepository } from './balances.repository';
import { BalancesService } from './balances.service';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { remainingIn, viewOf } from './running-grants.service';

@Injectable()
export class GrantsService {
  constructor(
    private readonly database: Database,
    private readonly balances: BalancesService,
    private readonly repository: BalancesRepository,
    private readonly grants: GrantsRepository,
    private readonly recalculateBalance: RecalculateBalanceService,
    private readonly customers: CustomersService,
    private readonly outbox: Outbox,
  ) {}

  /** @throws {ProblemError} what `BalancesService.lock` throws, `grant_contradicts`, `too_many_grants` */
  create(customerId: string, key: string, terms: GrantTerms): Promise<GrantView> {
    return this.database.transaction(async () => {
      // The grant refers to the customer. A deletion also locks the customer before its usage.
      await this.customers.lockForReference(customerId);
      const { record, now } = await this.balances.lock(customerId, key);
      const { entitlement, row } = record;
      const faults = faultsOfGrant(entitlement.type, terms, now);
      if (faults.length > 0) throw grantContradicts(faults);
      if ((await this.grants.findRunning(row)).length >= MAX_GRANTS) throw tooManyGrants(key);
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
      // Usage beyond the former limit is taken from the grant at once.
      const remaining = await this.remainingIn(await this.recalculate(record, now));
      const view = viewOf(grant, key, remaining);
      await this.outbox.record(granted, { after: view, occurredAt: now });
      return view;
    });
  }

  /**
   * Returns the grants of a customer for one entitlement, newest first.
   * @throws {ProblemError} what `BalancesService.get` throws
   */
  async list(customerId: string, key: string, request: PageRequest): Promise<Page<GrantView>> {
    const { record } = await this.balances.read(customerId, key);
    const { items, next } = await this.grants.page(record.row, request);
    const remaining = await this.remainingIn(record);
    return { items: items.map((grant) => viewOf(grant, key, remaining)), next };
  }

  /**
   * Voids a grant. Usage that was taken from the grant does not count against the plan or other grants. The quantity
   * left in the grant is lost. A no-op if the grant is already voided.
   * @throws {ProblemError} what `BalancesService.lock` throws, `entitlement_grant_not_found`, `invalid_transition` if
   *   the grant has expired or lapsed
   */
  void(customerId: string, key: string, id: string): Promise<GrantView> {
    return this.database.transaction(async () => {
      await this.customers.lockForReference(customerId);
      const { record, now } = await this.balances.lock(customerId, key);
      const { row } = record;
      const grant = (await this.grants.find(row, id)) ?? raise(grantNotFound(id));
      if (grant.end === 'voided') return viewOf(grant, key, new Map());
      if (grant.end !== null) throw invalidTransition('grant', grant.end, 'voided');
      const before = viewOf(grant, key, await this.remainingIn(record));
      const { counter } = endGrant(
        {
          counter: counterOf(row),
          grants: await this.grants.findRunning(row),
          ended: [],
        },
        row.allowance,
        id,
        { end: 'voided', at: now },
      );
      const voided: Grant = nextVersion(grant, now, { end: 'voided', endedAt: now });
      await this.grants.update(voided);
      await this.repository.update({ ...row, expiredGrantUsage: counter.expiredGrantUsage });
      await this.recalculate(record, now);
      const after = viewOf(voided, key, new Map());
      await this.outbox.record(grantVoided, { after, before, occurredAt: changedAt(now, grant) });
      return after;
    });
  }

  private recalculate({ entitlement, row }: BalanceRecord, now: Date): Promise<BalanceRecord> {
    const customer = { id: row.customerId, testClockId: row.testClockId };
    return this.recalculateBalance.recalculate(customer, entitlement, now);
  }

  private async remainingIn(record: BalanceRecord): Promise<ReadonlyMap<string, Rational>> {
    return remainingIn(record, await this.grants.findRunning(record.row));
  }
}
