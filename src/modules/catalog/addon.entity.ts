import { Column, Entity, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import { IdColumn, InstantColumn, MetadataColumn, RowVersionColumn } from '../../platform/database';
import type { Addon } from './domain/addon';

@Entity('addon')
@Unique('addon_code_unique', ['code'])
export class AddonEntity implements Omit<Addon, 'prices'> {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 64 }) readonly code!: string;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly archivedAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
