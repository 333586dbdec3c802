import { Check, Column, Entity, Index } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import {
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { Address, Customer, TaxExemption } from './domain/customer';

@Entity('customer')
@Index('customer_external_id_unique', ['externalId'], {
  unique: true,
  where: '"deleted_at" IS NULL',
})
@Index('customer_test_clock_index', ['testClockId', 'id'], {
  where: '"test_clock_id" IS NOT NULL',
})
@Index('customer_currency_index', ['currency', 'id'], { where: '"deleted_at" IS NULL' })
@Index('customer_created_index', ['createdAt', 'id'], { where: '"deleted_at" IS NULL' })
// An index on an expression, which an entity cannot define.
@Index('customer_name_index', { synchronize: false })
@Index('customer_email_index', ['email', 'id'], { where: '"deleted_at" IS NULL' })
@Check('customer_currency_check', `NOT "currency_locked" OR "currency" IS NOT NULL`)
@Check('customer_tax_exempt_check', `"tax_exempt" IN ('none', 'exempt', 'reverse')`)
@Check('customer_invoice_grace_hours_check', `"invoice_grace_hours" BETWEEN 0 AND 720`)
export class CustomerEntity implements Customer {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 320, nullable: true }) readonly email!: string | null;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly externalId!: string | null;
  @Column({ type: 'char', length: 3, nullable: true }) readonly currency!: string | null;
  @Column({ type: 'boolean', default: false }) readonly currencyLocked!: boolean;
  @Column({ type: 'varchar', length: 64 }) readonly timezone!: string;
  @Column({ type: 'jsonb', nullable: true }) readonly address!: Address | null;
  @Column({ type: 'varchar', length: 10 }) readonly taxExempt!: TaxExemption;
  @Column({ type: 'varchar', length: 40, array: true, default: [] })
  readonly taxRateIds!: readonly string[];
  @Column({ type: 'integer', nullable: true }) readonly invoiceGraceHours!: number | null;
  @ReferenceColumn({ to: 'TestClockEntity', nullable: true }) readonly testClockId!: string | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly deletedAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
