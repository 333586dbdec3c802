import { Entity, PrimaryColumn } from 'typeorm';
import { ExactJsonColumn, IdColumn } from '../../platform/database';
import type { InvoiceSnapshots } from './domain/invoice-snapshots';

/**
 * Seller and buyer snapshots of finalized invoices of a customer. Append-only: a change of the seller or the buyer adds
 * a row.
 */
@Entity('invoice_snapshot')
export class InvoiceSnapshotEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  /** From the sequence `invoice_snapshot_id`. */
  @PrimaryColumn({ type: 'bigint' }) readonly id!: string;
  @ExactJsonColumn() readonly snapshots!: InvoiceSnapshots;
}
