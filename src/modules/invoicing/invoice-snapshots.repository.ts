import { Injectable } from '@nestjs/common';
import { toJson } from '../../core/exact-json';
import { Database } from '../../platform/database';
import type { Invoice } from './domain/invoice';
import type { InvoiceEntity } from './invoice.entity';

/**
 * Stores the given snapshots that differ from the last stored snapshots of the same customer. Returns the ids of all
 * given snapshots, in their order. Takes no lock, so two concurrent transactions can store the same snapshots twice. A
 * lock could make a transaction wait while it blocks an invoice number series.
 */
const STORE = `
  WITH given AS MATERIALIZED (
    SELECT place, customer_id, snapshots, (
      SELECT CASE WHEN last.snapshots = given.snapshots THEN last.id END
      FROM (
        SELECT id, snapshots FROM invoice_snapshot WHERE customer_id = given.customer_id
        ORDER BY id DESC LIMIT 1) AS last) AS known_id
    FROM unnest($1::varchar[], $2::jsonb[]) WITH ORDINALITY AS given (customer_id, snapshots, place)),
  numbered AS MATERIALIZED (
    SELECT place, customer_id, snapshots, known_id, coalesce(known_id, nextval('invoice_snapshot_id')) AS id
    FROM given),
  added AS (
    INSERT INTO invoice_snapshot (customer_id, id, snapshots)
    SELECT customer_id, id, snapshots FROM numbered WHERE known_id IS NULL)
  SELECT id::text AS id FROM numbered ORDER BY place`;

export type InvoiceToStore = Invoice & Pick<InvoiceEntity, 'snapshots' | 'snapshotId'>;

/** Stores the names and addresses of seller and buyer once for each customer, and again when they have changed. */
@Injectable()
export class InvoiceSnapshotsRepository {
  constructor(private readonly database: Database) {}

  async store(invoices: readonly Invoice[]): Promise<readonly InvoiceToStore[]> {
    this.database.requireTransaction();
    const finalized = invoices.filter(({ snapshots }) => snapshots !== null);
    if (finalized.length === 0) {
      return invoices.map((invoice) => ({ ...invoice, snapshotId: null }));
    }
    const rows = await this.database.query<{ id: string }>(STORE, [
      finalized.map(({ customerId }) => customerId),
      finalized.map(({ snapshots }) => JSON.stringify(toJson(snapshots))),
    ]);
    const ids = new Map(finalized.map(({ id }, index) => [id, rows[index]?.id ?? null]));
    return invoices.map((invoice) => ({
      ...invoice,
      snapshots: null,
      snapshotId: ids.get(invoice.id) ?? null,
    }));
  }
}
