import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  onViolation,
  type Page,
  type PageRequest,
} from '../../platform/database';
import { CouponEntity } from './coupon.entity';
import { couponCodeTaken } from './coupons.errors';
import type { Coupon } from './domain/coupon';

@Injectable()
export class CouponsRepository {
  constructor(private readonly database: Database) {}

  async insert(coupon: Coupon): Promise<void> {
    await onViolation(this.database.insert(CouponEntity, coupon), 'coupon_code_unique', () =>
      couponCodeTaken(coupon.code),
    );
  }

  find(id: string): Promise<Coupon | null> {
    return this.database.selectOne(CouponEntity, 'WHERE id = $1', [id]);
  }

  lock(id: string): Promise<Coupon | null> {
    return this.database.selectOne(CouponEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(request: PageRequest): Promise<Page<Coupon>> {
    return new ListQuery('coupon').page(this.database, CouponEntity, request);
  }

  async update(coupon: Coupon): Promise<void> {
    await this.database.updateRevised(CouponEntity, coupon, ['isActive', 'metadata']);
  }

  async delete(id: string): Promise<void> {
    await this.database.repository(CouponEntity).delete({ id });
  }
}
