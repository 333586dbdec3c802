import { Check, Column, Entity, Index } from 'typeorm';
import type { Rational } from '../../core/decimal';
import type { Metadata } from '../../core/metadata';
import {
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import { DecimalColumn } from './decimal-column';
import type { GrantEnd } from './domain/grant';

@Entity('entitlement_grant')
@Index('entitlement_grant_customer_index', ['customerId', 'entitlementId', 'id'])
@Index('entitlement_grant_entitlement_id_index', ['entitlementId'])
@Check('entitlement_grant_value_check', `"value" > 0 AND "balance" >= 0`)
@Check(
  'entitlement_grant_rollover_check',
  `("rollover_min" IS NULL) = ("rollover_max" IS NULL) AND "rollover_min" >= 0 AND "rollover_min" <= "rollover_max"`,
)
@Check(
  'entitlement_grant_end_check',
  `("end" IS NULL) = ("ended_at" IS NULL) AND "end" IN ('expired', 'lapsed', 'voided')`,
)
export class EntitlementGrantEntity {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'FeatureEntity' }) readonly entitlementId!: string;
  @DecimalColumn({ nullable: true }) readonly value!: Rational | null;
  @DecimalColumn({ nullable: true }) readonly balance!: Rational | null;
  @Column({ type: 'integer' }) readonly priority!: number;
  @InstantColumn({ nullable: true }) readonly expiresAt!: Date | null;
  @DecimalColumn({ nullable: true }) readonly rolloverMin!: Rational | null;
  @DecimalColumn({ nullable: true }) readonly rolloverMax!: Rational | null;
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
  @Column({ type: 'varchar', length: 10, nullable: true }) readonly end!: GrantEnd | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
