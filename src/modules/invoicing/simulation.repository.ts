import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { InvoiceLine } from './domain/invoice';
import { isInEffect } from './invoice-query';
import { InvoicesRepository } from './invoices.repository';

const COUNT_CUSTOMERS = `
  SELECT count(DISTINCT customer_id)::int AS count FROM invoice WHERE subscription_id IS NOT NULL`;

const CUSTOMERS_AFTER = `
  SELECT DISTINCT customer_id FROM invoice
  WHERE customer_id > $1 AND subscription_id IS NOT NULL ORDER BY customer_id LIMIT $2`;

/**
 * Finds lines of invoices in effect. Leaves out void invoices, because an invoice that is regenerated from a void one
 * bills the same charges again.
 */
const BILLED = `
  SELECT line.id, invoice.customer_id
  FROM invoice JOIN invoice_line line ON line.invoice_id = invoice.id
  WHERE invoice.customer_id = ANY ($1) AND invoice.subscription_id IS NOT NULL
    AND ${isInEffect('invoice')} AND line.price_id = ANY ($2)
    AND line.full_period_start_at >= $3 AND line.full_period_start_at < $4`;

export interface CustomerLine {
  readonly customerId: string;
  readonly line: InvoiceLine;
}

/** Reads billed lines for simulations, some customers at a time, without locks. */
@Injectable()
export class SimulationRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  async countCustomers(): Promise<number> {
    return (await this.database.queryValue<number>(COUNT_CUSTOMERS)) ?? 0;
  }

  /** Returns the ids of the next customers after `id` that have invoices of subscriptions, in ascending order. */
  customersAfter(id: string, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(CUSTOMERS_AFTER, [id, limit]);
  }

  /**
   * Returns the lines that billed these prices and whose `fullPeriod` starts in `[from, to)`, in the order of their
   * creation. A prorated line bills only a part of its `fullPeriod`.
   */
  async billedLines(
    customerIds: readonly string[],
    priceIds: readonly string[],
    { from, to }: { readonly from: Date; readonly to: Date },
  ): Promise<readonly CustomerLine[]> {
    const found = await this.database.query<{ id: string; customer_id: string }>(BILLED, [
      customerIds,
      priceIds,
      from,
      to,
    ]);
    const customerOf = new Map(found.map((row) => [row.id, row.customer_id]));
    const lines = await this.invoices.findLines([...customerOf.keys()]);
    return lines.map((line) => ({ customerId: customerOf.get(line.id) ?? '', line }));
  }
}
