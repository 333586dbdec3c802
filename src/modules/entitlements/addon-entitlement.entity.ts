import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import {
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { AddonEntitlement, EntitlementMode } from './domain/addon-entitlement';

@Entity('addon_entitlement')
@Unique('addon_entitlement_pair_unique', ['addonId', 'entitlementId'])
@Index('addon_entitlement_addon_id_index', ['addonId', 'id'])
@Index('addon_entitlement_entitlement_id_index', ['entitlementId'])
@Check('addon_entitlement_mode_check', `"mode" IN ('increment', 'set')`)
@Check('addon_entitlement_value_check', `"value" >= 0 AND ("mode" = 'set' OR "value" IS NOT NULL)`)
export class AddonEntitlementEntity implements AddonEntitlement {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'AddonEntity' }) readonly addonId!: string;
  @ReferenceColumn({ to: 'FeatureEntity' }) readonly entitlementId!: string;
  @Column({ type: 'varchar', length: 10 }) readonly mode!: EntitlementMode;
  @Column({ type: 'numeric', nullable: true }) readonly value!: string | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
