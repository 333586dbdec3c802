import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import {
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { Feature, FeatureType } from './domain/feature';

@Entity('entitlement')
@Unique('entitlement_key_unique', ['key'])
@Index('entitlement_meter_id_index', ['meterId'], { where: '"meter_id" IS NOT NULL' })
@Check('entitlement_type_check', `"type" IN ('boolean', 'static', 'metered')`)
@Check('entitlement_meter_check', `"type" = 'metered' OR "meter_id" IS NULL`)
export class FeatureEntity implements Feature {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 64 }) readonly key!: string;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 10 }) readonly type!: FeatureType;
  @Column({ type: 'varchar', length: 40, nullable: true }) readonly unit!: string | null;
  @ReferenceColumn({ to: 'MeterEntity', nullable: true }) readonly meterId!: string | null;
  @Column({ type: 'integer', array: true, default: [80, 100] })
  readonly thresholds!: readonly number[];
  @Column({ type: 'integer', default: 1 }) readonly rulesVersion!: number;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
