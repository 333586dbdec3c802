import { Check, Column, Entity } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import { IdColumn, InstantColumn, MetadataColumn, RowVersionColumn } from '../../platform/database';
import type { TaxRate } from './domain/tax-rate';

@Entity('tax_rate')
@Check('tax_rate_percentage_check', `"percentage" BETWEEN 0 AND 100`)
export class TaxRateEntity implements TaxRate {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'numeric' }) readonly percentage!: string;
  @Column({ type: 'boolean' }) readonly inclusive!: boolean;
  @Column({ type: 'char', length: 2, nullable: true }) readonly country!: string | null;
  @Column({ type: 'boolean', default: true }) readonly isActive!: boolean;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly archivedAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
