import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { Invoice, InvoiceLine } from './domain/invoice';
import type { InvoiceFilter } from './domain/invoice-filter';
import { InvoiceLineEntity } from './invoice-line.entity';
import { InvoiceEntity } from './invoice.entity';

/** Ordered by id, so that two who credit the same lines wait for each other instead of deadlocking. */
const BILLED_IN_ADVANCE = `
  SELECT line.id FROM invoice_line line JOIN invoice ON invoice.id = line.invoice_id
  WHERE line.item_id = ANY ($1) AND line.period_end_at > $2 AND line.is_in_advance
    AND line.kind <> 'credit' AND invoice.status IN ('open', 'paid', 'uncollectible')
  ORDER BY line.id`;

const ADD_CREDITED = 'UPDATE invoice_line SET credited = credited + $2 WHERE id = $1';

const SUM_RECEIVABLE = `
  SELECT customer_id, trim(currency) AS currency,
    sum(amount_due - amount_paid - amount_credited)::text AS amount
  FROM invoice WHERE status = 'open' GROUP BY 1, 2`;

const RELEASE = `
  UPDATE invoice_line line SET is_released = true FROM invoice
  WHERE invoice.id = line.invoice_id AND invoice.subscription_id = $1
    AND invoice.status IN ('open', 'paid', 'uncollectible')
    AND line.is_in_advance AND NOT line.is_released AND (line.period_end_at <= $2
      OR $3 AND (line.period_start_at < $2 OR line.kind = 'credit'))
  RETURNING (line.net - line.credited_net)::text AS net`;

const TAKE_NUMBER = `
  INSERT INTO invoice_series (name, next_number) VALUES ($1, 2)
  ON CONFLICT (name) DO UPDATE SET next_number = invoice_series.next_number + 1
  RETURNING next_number - 1 AS number`;

type InvoiceRow = Omit<Invoice, 'lines'>;

@Injectable()
export class InvoicesRepository {
  constructor(private readonly database: Database) {}

  async insert({ lines, ...invoice }: Invoice): Promise<void> {
    this.database.requireTransaction();
    await this.database.insert(InvoiceEntity, invoice);
    if (lines.length > 0) {
      await this.database.repository(InvoiceLineEntity).insert(lines.map(toLineRow));
    }
  }

  async find(id: string): Promise<Invoice | null> {
    return this.withLinesOrNull(await this.invoices.findOneBy({ id }));
  }

  /** The invoice, locked until the transaction ends. */
  async lock(id: string): Promise<Invoice | null> {
    this.database.requireTransaction();
    const row = await this.invoices.findOne({
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    return this.withLinesOrNull(row);
  }

  async page(filter: InvoiceFilter, request: PageRequest): Promise<Page<Invoice>> {
    const query = this.invoices.createQueryBuilder('invoice');
    const { customerId, subscriptionId, status } = filter;
    if (customerId !== null) query.andWhere('invoice.customerId = :customerId', { customerId });
    if (subscriptionId !== null) {
      query.andWhere('invoice.subscriptionId = :subscriptionId', { subscriptionId });
    }
    if (status !== null) query.andWhere('invoice.status = :status', { status });
    const { items, next } = await pageById(query, request);
    return { items: await this.withLines(items), next };
  }

  /** Writes what happens to an invoice after it was made. */
  async update(invoice: Invoice): Promise<void> {
    const { lines: _lines, id, ...columns } = invoice;
    await this.database.update(InvoiceEntity, id, columns);
  }

  /** Writes the lines of a draft anew. */
  async replaceLines({ id, lines }: Invoice): Promise<void> {
    this.database.requireTransaction();
    const rows = this.database.repository(InvoiceLineEntity);
    await rows.delete({ invoiceId: id });
    if (lines.length > 0) await rows.insert(lines.map(toLineRow));
  }

  /**
   * What items were billed in advance beyond an instant, by finalised invoices that are not void, true-ups included.
   * @param lock whether nobody else may credit these lines until the transaction ends
   */
  async billedInAdvance(
    itemIds: readonly string[],
    beyond: Date,
    lock: boolean,
  ): Promise<readonly InvoiceLine[]> {
    if (itemIds.length === 0) return [];
    const sql = lock ? `${BILLED_IN_ADVANCE} FOR UPDATE OF line` : BILLED_IN_ADVANCE;
    const found = await this.database.query<{ id: string }>(sql, [itemIds, beyond]);
    const rows = await this.database.repository(InvoiceLineEntity).find({
      where: { id: In(found.map(({ id }) => id)) },
      order: { id: 'ASC' },
    });
    return rows.map(toLine);
  }

  /** Counts what a credit takes back of a line; negative gives it back. */
  async addCredited(lineId: string, amount: bigint): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(ADD_CREDITED, [lineId, amount.toString()]);
  }

  /** Writes what credit notes took of a line. */
  async updateCredited({
    id,
    credited,
    creditedNet,
    creditedTaxShares,
  }: InvoiceLine): Promise<void> {
    await this.database.update(InvoiceLineEntity, id, { credited, creditedNet, creditedTaxShares });
  }

  /** What each customer owes for open invoices, in minor units. */
  async sumReceivable(): Promise<
    readonly { customerId: string; currency: string; amountMinor: bigint }[]
  > {
    const rows = await this.database.query<{
      customer_id: string;
      currency: string;
      amount: string;
    }>(SUM_RECEIVABLE);
    return rows.map(({ customer_id: customerId, currency, amount }) => ({
      customerId,
      currency,
      amountMinor: BigInt(amount),
    }));
  }

  /**
   * Marks the lines of a subscription whose period is over as released; returns the sum of their nets.
   * @param isCutShort whether the periods that run at `upTo` are over as well
   */
  async releaseLines(subscriptionId: string, upTo: Date, isCutShort: boolean): Promise<bigint> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ net: string }>(RELEASE, [
      subscriptionId,
      upTo,
      isCutShort,
    ]);
    return rows.reduce((total, { net }) => total + BigInt(net), 0n);
  }

  /** The next number of a series; the series is locked until the transaction ends. */
  async takeNumber(series: string): Promise<bigint> {
    this.database.requireTransaction();
    const [row] = await this.database.query<{ number: string }>(TAKE_NUMBER, [series]);
    if (row === undefined) throw new Error(`The series ${series} gave no number.`);
    return BigInt(row.number);
  }

  private async withLinesOrNull(row: InvoiceRow | null): Promise<Invoice | null> {
    if (row === null) return null;
    const [invoice] = await this.withLines([row]);
    return invoice ?? null;
  }

  private async withLines(rows: readonly InvoiceRow[]): Promise<readonly Invoice[]> {
    if (rows.length === 0) return [];
    const lines = await this.database.repository(InvoiceLineEntity).find({
      where: { invoiceId: In(rows.map(({ id }) => id)) },
      order: { position: 'ASC' },
    });
    const byInvoice = new Map<string, InvoiceLine[]>(rows.map(({ id }) => [id, []]));
    for (const line of lines) byInvoice.get(line.invoiceId)?.push(toLine(line));
    return rows.map((row) => ({ ...row, lines: byInvoice.get(row.id) ?? [] }));
  }

  private get invoices() {
    return this.database.repository(InvoiceEntity);
  }
}

function toLineRow({ period, fullPeriod, proration, ...line }: InvoiceLine): InvoiceLineEntity {
  return {
    ...line,
    periodStartAt: period?.startAt ?? null,
    periodEndAt: period?.endAt ?? null,
    fullPeriodStartAt: fullPeriod?.startAt ?? null,
    fullPeriodEndAt: fullPeriod?.endAt ?? null,
    prorationNumerator: proration?.numerator ?? null,
    prorationDenominator: proration?.denominator ?? null,
  };
}

function toLine(row: InvoiceLineEntity): InvoiceLine {
  const {
    periodStartAt,
    periodEndAt,
    fullPeriodStartAt,
    fullPeriodEndAt,
    prorationNumerator: numerator,
    prorationDenominator: denominator,
    ...line
  } = row;
  const unit = line.prorationUnit;
  return {
    ...line,
    period: periodOf(periodStartAt, periodEndAt),
    fullPeriod: periodOf(fullPeriodStartAt, fullPeriodEndAt),
    proration:
      numerator === null || denominator === null || unit === null
        ? null
        : { numerator, denominator, unit },
  };
}

function periodOf(startAt: Date | null, endAt: Date | null): InvoiceLine['period'] {
  return startAt === null || endAt === null ? null : { startAt, endAt };
}
