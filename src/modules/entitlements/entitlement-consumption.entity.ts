import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Rational } from '../../core/decimal';
import { IdColumn, InstantColumn } from '../../platform/database';
import { DecimalColumn } from './decimal-column';

/** Answer to a consumption request. It is kept for ever, because a repeated request gets the same answer. */
@Entity('entitlement_consumption')
export class EntitlementConsumptionEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @IdColumn({ to: 'FeatureEntity' }) readonly entitlementId!: string;
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' })
  readonly idempotencyKey!: string;
  @DecimalColumn() readonly quantity!: Rational;
  @Column({ type: 'jsonb' }) readonly answer!: object;
  @InstantColumn() readonly createdAt!: Date;
}
