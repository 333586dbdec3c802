import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { raise, referenceNotFound } from '../../platform/errors';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { CatalogService } from '../catalog';
import { couponInUse, couponNotFound, couponTermsContradict } from './coupons.errors';
import { couponCreated, couponDeleted, couponUpdated } from './coupons.events';
import { CouponsRepository } from './coupons.repository';
import { type Coupon, type CouponChange, type CouponTerms, faultsOfTerms } from './domain/coupon';

@Injectable()
export class CouponsService {
  constructor(
    private readonly database: Database,
    private readonly coupons: CouponsRepository,
    private readonly catalog: CatalogService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `coupon_terms_contradict`, `reference_not_found`, `coupon_code_taken` */
  async create(terms: CouponTerms): Promise<Coupon> {
    const now = this.clock.now();
    const faults = faultsOfTerms(terms, now);
    if (faults.length > 0) throw couponTermsContradict(faults);
    await this.requirePlans(terms.planIds);
    const coupon: Coupon = {
      ...terms,
      id: newId('coup'),
      version: 1,
      code: terms.code ?? newCode(),
      timesRedeemed: 0,
      isActive: true,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.coupons.insert(coupon);
      await this.outbox.record(couponCreated, { after: coupon, occurredAt: now });
    });
    return coupon;
  }

  /** @throws {ProblemError} `coupon_not_found` */
  async get(id: string): Promise<Coupon> {
    return (await this.coupons.find(id)) ?? raise(couponNotFound(id));
  }

  list(request: PageRequest): Promise<Page<Coupon>> {
    return this.coupons.page(request);
  }

  /**
   * Activates or deactivates a coupon, and merges the given metadata into the stored metadata. If nothing changes,
   * writes nothing and records no event.
   * @throws {ProblemError} `coupon_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: CouponChange, expected: VersionCondition): Promise<Coupon> {
    return this.database.transaction(async () => {
      const before = (await this.coupons.lock(id)) ?? raise(couponNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.coupons.update(after);
      await this.outbox.recordChange(couponUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Deletes a coupon that was never redeemed. Another coupon can then have the same code.
   * @throws {ProblemError} `coupon_not_found`, `precondition_failed`, `coupon_in_use`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const coupon = (await this.coupons.lock(id)) ?? raise(couponNotFound(id));
      assertVersion(expected, coupon);
      if (coupon.timesRedeemed > 0) throw couponInUse(id);
      await this.coupons.delete(id);
      const occurredAt = changedAt(this.clock.now(), coupon);
      await this.outbox.record(couponDeleted, { after: coupon, occurredAt });
    });
  }

  /** Checks that the plans exist. Accepts archived plans, because their subscriptions continue. */
  private async requirePlans(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const known = new Set((await this.catalog.getPlanNames(ids)).map(({ id }) => id));
    for (const [index, id] of ids.entries()) {
      if (!known.has(id)) throw referenceNotFound(`/plan_ids/${index}`, id);
    }
  }
}

/** Alphabet of generated codes, without letters and digits that look alike. */
const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const CODE_LENGTH = 12;

function newCode(): string {
  return Array.from(
    { length: CODE_LENGTH },
    () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)],
  ).join('');
}
