import { Entity, PrimaryColumn } from 'typeorm';
import { ExactJsonColumn, IdColumn } from '../../platform/database';
import type { InvoiceSnapshots } from './domain/invoice-snapshots';

/** Seller and buyer, as finalized invoices of a customer show them. Append-only: each change adds a row. */
@Entity('invoice_snapshot')
export class InvoiceSnapshotEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  /** From the sequence `invoice_snapshot_id`. */
  @PrimaryColumn({ type: 'bigint' }) readonly id!: string;
  @ExactJsonColumn() readonly snapshots!: InvoiceSnapshots;
}
