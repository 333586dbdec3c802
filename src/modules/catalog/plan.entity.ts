import { Check, Column, Entity, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import { IdColumn, InstantColumn, MetadataColumn, RowVersionColumn } from '../../platform/database';
import type { Plan } from './domain/plan';

@Entity('plan')
@Unique('plan_code_unique', ['code'])
@Check('plan_active_number_check', `"active_number" >= 1`)
export class PlanEntity implements Omit<Plan, 'activeVersion'> {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 64 }) readonly code!: string;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'integer' }) readonly activeNumber!: number;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly archivedAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
