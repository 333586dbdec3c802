import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { invariant } from '../../core/invariant';
import {
  Database,
  type ListSummary,
  type Page,
  type PageRequest,
  Reports,
} from '../../platform/database';
import type { Invoice, InvoiceLine } from './domain/invoice';
import type { EarnedPeriod } from './domain/earned-period';
import type { InvoiceFilter } from './domain/invoice-filter';
import { joinTrace } from './domain/shared-trace';
import { InvoiceLineEntity } from './invoice-line.entity';
import { invoiceQuery, isInEffect } from './invoice-query';
import { InvoiceSnapshotsRepository } from './invoice-snapshots.repository';
import { InvoiceEntity } from './invoice.entity';
import { type LineToStore, SharedTracesRepository } from './shared-traces.repository';

const ADD_CREDITED = `
  UPDATE invoice_line SET credited = credited + taken.amount
  FROM (SELECT id, sum(amount) AS amount FROM unnest($1::text[], $2::bigint[]) AS taken (id, amount)
    GROUP BY id) taken
  WHERE invoice_line.id = taken.id`;

/**
 * Marks lines billed in advance as released (their deferred revenue is recognized), and sums their net amounts.
 * - Selects lines that end in the given periods. Lines that ended before are marked already. If items end with the
 *   period (`ends_items`), also selects their later lines.
 * - Reads lines by item, because a subscription may have hundreds of invoices.
 * - Looks up each line in `released_line`, because a join may read the whole table. `is_released` is true only for
 *   lines that were marked when they were stored, or by an earlier version of this service.
 */
const RELEASE = `
  WITH earned AS MATERIALIZED (
    SELECT line.id, over.subscription_id, line.net - line.credited_net AS net, invoice.finalized_at
    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::boolean[])
        AS over (subscription_id, item_id, start_at, end_at, ends_items)
      JOIN invoice_line line ON line.item_id = over.item_id AND line.period_end_at >= over.start_at
      JOIN invoice ON invoice.id = line.invoice_id
    WHERE ${isInEffect('invoice')}
      AND line.is_in_advance AND NOT line.is_released
      AND (SELECT true FROM released_line WHERE line_id = line.id) IS NULL
      AND (over.ends_items OR line.period_end_at <= over.end_at)
    FOR NO KEY UPDATE OF line),
  marked AS (INSERT INTO released_line (line_id) SELECT id FROM earned)
  SELECT subscription_id AS "subscriptionId", sum(net)::text AS net, max(finalized_at) AS "updatedAt" FROM earned
  GROUP BY subscription_id`;

const TAKE_NUMBERS = `
  INSERT INTO invoice_series (name, next_number) VALUES ($1, 1 + $2::bigint)
  ON CONFLICT (name) DO UPDATE SET next_number = invoice_series.next_number + $2::bigint
  RETURNING next_number - $2::bigint AS first`;

/**
 * Deferred revenue that is recognized, in minor units. `updatedAt` is when the newest of its invoices was finalized.
 */
interface ReleasedRevenue {
  readonly netMinor: bigint;
  readonly updatedAt: Date;
}

@Injectable()
export class InvoicesRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly traces: SharedTracesRepository,
    private readonly snapshots: InvoiceSnapshotsRepository,
  ) {}

  async insert(invoice: Invoice): Promise<void> {
    await this.insertAll([invoice]);
  }

  async insertAll(invoices: readonly Invoice[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.insertMany(InvoiceEntity, await this.snapshots.store(invoices));
    await this.insertLines(invoices.flatMap(({ lines }) => lines));
  }

  find(id: string): Promise<Invoice | null> {
    return this.onSnapshot(async () =>
      this.withLinesOrNull(await this.database.selectOne(InvoiceEntity, 'WHERE id = $1', [id])),
    );
  }

  /** Returns the invoices with these ids, sorted by id. Leaves out ids without an invoice. */
  async findAll(ids: readonly string[]): Promise<readonly Invoice[]> {
    const byId = 'WHERE id = ANY ($1) ORDER BY id';
    return this.withLines(await this.database.select(InvoiceEntity, byId, [ids]));
  }

  /** Returns the invoice, locked until the transaction ends; null if there is none with this id. */
  async lock(id: string): Promise<Invoice | null> {
    const locked = 'WHERE id = $1 FOR NO KEY UPDATE';
    return this.withLinesOrNull(await this.database.selectOne(InvoiceEntity, locked, [id]));
  }

  page(filter: InvoiceFilter, request: PageRequest): Promise<Page<Invoice>> {
    return this.onSnapshot(async () => {
      const query = invoiceQuery(filter);
      const { items, next } = await query.page(this.database, InvoiceEntity, request);
      return { items: await this.withLines(items), next };
    });
  }

  summarize(filter: InvoiceFilter): Promise<readonly ListSummary[]> {
    return invoiceQuery(filter).summarize(this.reports, {
      total: 'total',
      amount_due: 'amount_due',
      amount_paid: 'amount_paid',
      amount_remaining: `CASE WHEN status NOT IN ('draft', 'void') THEN amount_due - amount_paid - amount_credited END`,
    });
  }

  /** Returns the lines with these ids, oldest first. */
  async findLines(ids: readonly string[]): Promise<readonly InvoiceLine[]> {
    if (ids.length === 0) return [];
    const byId = 'WHERE id = ANY ($1) ORDER BY id';
    return (await this.database.select(InvoiceLineEntity, byId, [ids])).map(toLine);
  }

  /** Writes the columns of an existing invoice, except its snapshots. Does not write its lines. */
  async update(invoice: Invoice): Promise<void> {
    const { lines: _lines, id, ...columns } = invoice;
    await this.database.update(InvoiceEntity, id, { ...columns, snapshots: undefined });
  }

  /** Stores drafts as finalized, and ends the claims of the workers that finalized them. */
  async updateFinalized(invoices: readonly Invoice[]): Promise<void> {
    const rows = await this.snapshots.store(invoices);
    await this.database.updateMany(
      InvoiceEntity,
      rows.map(({ lines: _lines, ...columns }) => ({ ...columns, leaseEndsAt: null })),
    );
  }

  /** Returns the id of the invoice that replaces a void invoice; null if there is none. */
  findRegeneratedFrom(id: string): Promise<string | null> {
    return this.database.queryValue('SELECT id FROM invoice WHERE reissue_of_id = $1', [id]);
  }

  /** Deletes drafts with their lines. */
  async deleteAll(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.deleteLines(ids);
    await this.database.repository(InvoiceEntity).delete([...ids]);
  }

  async replaceLines(drafts: readonly Invoice[]): Promise<void> {
    await this.deleteLines(drafts.map(({ id }) => id));
    await this.insertLines(drafts.flatMap(({ lines }) => lines));
  }

  /** Adds to the credited amounts of lines; a negative amount lowers them. */
  async addCredited(
    taken: readonly { readonly lineId: string; readonly amount: bigint }[],
  ): Promise<void> {
    this.database.requireTransaction();
    if (taken.length === 0) return;
    await this.database.query(ADD_CREDITED, [
      taken.map(({ lineId }) => lineId),
      taken.map(({ amount }) => amount.toString()),
    ]);
  }

  async updateCredited({
    id,
    credited,
    creditedNet,
    creditedTaxShares,
  }: InvoiceLine): Promise<void> {
    await this.database.update(InvoiceLineEntity, id, { credited, creditedNet, creditedTaxShares });
  }

  /**
   * Recognizes the deferred revenue of periods that are over, by marking its lines as released. Returns two values by
   * subscription id:
   * - the net amounts of these lines, less the net amounts that credit notes took back
   * - when the newest of their invoices was finalized
   */
  async releaseLines(over: readonly EarnedPeriod[]): Promise<ReadonlyMap<string, ReleasedRevenue>> {
    this.database.requireTransaction();
    if (over.length === 0) return new Map();
    const items = over.flatMap(({ itemIds, ...period }) =>
      itemIds.map((itemId) => ({ ...period, itemId })),
    );
    const rows = await this.database.query<{
      subscriptionId: string;
      net: string;
      updatedAt: Date;
    }>(RELEASE, [
      items.map(({ subscriptionId }) => subscriptionId),
      items.map(({ itemId }) => itemId),
      items.map(({ startAt }) => startAt),
      items.map(({ endAt }) => endAt),
      items.map(({ endsItems }) => endsItems),
    ]);
    return new Map(
      rows.map(({ subscriptionId, net, updatedAt }) => [
        subscriptionId,
        { netMinor: BigInt(net), updatedAt },
      ]),
    );
  }

  /** Takes `count` numbers of a series, and returns the first number. Locks the series until the transaction ends. */
  async takeNumbers(series: string, count: number): Promise<bigint> {
    this.database.requireTransaction();
    const [row] = await this.database.query<{ first: string }>(TAKE_NUMBERS, [series, count]);
    if (row === undefined) throw new Error(`The series ${series} gave no number.`);
    return BigInt(row.first);
  }

  private async deleteLines(invoiceIds: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.repository(InvoiceLineEntity).delete({ invoiceId: In([...invoiceIds]) });
  }

  private async insertLines(lines: readonly InvoiceLine[]): Promise<void> {
    const stored = await this.traces.store(lines);
    await this.database.insertMany(InvoiceLineEntity, stored.map(toLineRow));
  }

  /** Reads invoices and lines as of one point in time. In a transaction, relies on the caller's locks instead. */
  private onSnapshot<Result>(reads: () => Promise<Result>): Promise<Result> {
    return this.database.isInTransaction ? reads() : this.database.snapshot(reads);
  }

  private async withLinesOrNull(row: InvoiceEntity | null): Promise<Invoice | null> {
    if (row === null) return null;
    const [invoice] = await this.withLines([row]);
    return invoice ?? null;
  }

  private async withLines(rows: readonly InvoiceEntity[]): Promise<readonly Invoice[]> {
    if (rows.length === 0) return [];
    const ofInvoices = 'WHERE invoice_id = ANY ($1) ORDER BY position';
    const lines = await this.database.select(InvoiceLineEntity, ofInvoices, [
      rows.map(({ id }) => id),
    ]);
    const byInvoice = new Map<string, InvoiceLine[]>(rows.map(({ id }) => [id, []]));
    for (const line of lines) byInvoice.get(line.invoiceId)?.push(toLine(line));
    return rows.map((row) => toInvoice(row, byInvoice.get(row.id) ?? []));
  }
}

function toInvoice(row: InvoiceEntity, lines: readonly InvoiceLine[]): Invoice {
  const { snapshotId: _id, sharedSnapshots, ...invoice } = row;
  return { ...invoice, snapshots: invoice.snapshots ?? sharedSnapshots ?? null, lines };
}

function toLineRow({ line, stored }: LineToStore): InvoiceLineEntity {
  const { period, fullPeriod, proration, ...columns } = line;
  return {
    ...columns,
    ...stored,
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
    isReleasedLater,
    trace: own,
    sharedTraceId: _id,
    sharedTrace: shared = null,
    ...line
  } = row;
  const unit = line.prorationUnit;
  const trace = joinTrace({ shared, own });
  invariant(trace !== null, `The line ${line.id} has its trace.`);
  return {
    ...line,
    trace,
    isReleased: line.isReleased || isReleasedLater === true,
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
