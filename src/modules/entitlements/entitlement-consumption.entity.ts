import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { Rational } from '../../core/decimal';
import { InstantColumn } from '../../platform/database';
import { DecimalColumn } from './decimal-column';

/** Answer to a consumption, stored for ever: an idempotent replay returns it. */
@Entity('entitlement_consumption')
export class EntitlementConsumptionEntity {
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('FeatureEntity')
  readonly entitlementId!: string;
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' })
  readonly idempotencyKey!: string;
  @DecimalColumn() readonly quantity!: Rational;
  @Column({ type: 'jsonb' }) readonly answer!: object;
  @InstantColumn() readonly createdAt!: Date;
}
