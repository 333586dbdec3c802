import { Injectable } from '@nestjs/common';
import { compare, parseExact, type Rational, ZERO } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { invalidCursor } from '../../platform/errors';
import { CatalogService } from '../catalog';
import {
  type ArchivedMonth,
  type CountedEvent,
  type UsageQuery,
  type UsageReading,
  UsageStore,
} from '../metering';
import { MetersService } from '../meters';
import { CreditBalanceService } from './credit-balance.service';
import { explain, type Explanation, type InvoiceExplanation } from './domain/explain';
import type { Invoice, InvoiceLine } from './domain/invoice';
import { exactAmountOf } from './domain/trace';
import type { UsageTrace } from './domain/usage';
import { InvoicesService } from './invoices.service';
import { invoiceLineNotFound, invoiceLineWithoutUsage } from './invoicing.errors';

/** A page of the stored events that a line billed, and the months whose events are only in archive files. */
export interface LineEvents {
  readonly page: Page<CountedEvent>;
  readonly archived: readonly ArchivedMonth[];
}

export interface ExplainedLine extends Explanation {
  /** Amount before rounding; null for credits and usage corrections. */
  readonly exact: Rational | null;
  /** Null for a line without a price. */
  readonly priceName: string | null;
  readonly archived: readonly ArchivedMonth[];
  /** True if the stored events, counted again, give the billed usage. Null if they were not counted again. */
  readonly usageMatches: boolean | null;
}

/** The calculation of an invoice, with a page of its lines. */
export interface ExplainedInvoice extends Omit<InvoiceExplanation, 'lines'> {
  /** By credit id: the id of the invoice, credit note or payment that the used credit came from. */
  readonly creditSources: ReadonlyMap<string, string>;
  readonly page: { readonly items: readonly ExplainedLine[]; readonly next: string | null };
}

type CountedQuery = UsageQuery & { readonly upToPosition: bigint };

/** Explains how invoices and their lines were calculated, and finds the events that lines billed. */
@Injectable()
export class LineUsageService {
  constructor(
    private readonly invoices: InvoicesService,
    private readonly catalog: CatalogService,
    private readonly meters: MetersService,
    private readonly usage: UsageStore,
    private readonly credit: CreditBalanceService,
    private readonly database: Database,
  ) {}

  /**
   * Returns the events that a line counted, as they were when the line was made, in time order. Includes earlier events
   * whose values carried over into the period of the line. For a line for late usage, returns all events of its period.
   * Reads one snapshot: otherwise events that are archived meanwhile would be in both parts of the answer, or in none.
   * @throws {ProblemError} `invoice_not_found`, `invoice_line_not_found`, `invoice_line_without_usage`,
   *   `invalid_cursor`
   */
  listEvents(id: string, lineId: string, page: PageRequest): Promise<LineEvents> {
    return this.database.snapshot(async () => {
      const invoice = await this.invoices.read(id);
      const line = invoice.lines.find((one) => one.id === lineId);
      if (line === undefined) throw invoiceLineNotFound(lineId);
      if (line.trace.kind !== 'usage') throw invoiceLineWithoutUsage(lineId);
      const [part, ...others] = line.trace.parts;
      const group = part === undefined || others.length > 0 ? null : part.group;
      const [query] = await this.queriesOf(invoice, [line]);
      invariant(query !== undefined, 'a usage line has a usage query');
      const [archived = []] = await this.usage.listArchived([query]);
      return { page: await this.usage.listCounted(query, group, page), archived };
    });
  }

  /**
   * Returns the calculation of a line, and the archived months with events that the line counted.
   * @throws {ProblemError} `invoice_not_found`, `invoice_line_not_found`
   */
  async explainLine(id: string, lineId: string): Promise<ExplainedLine> {
    const { invoice, lines } = explain(await this.invoices.read(id));
    const line = lines.filter((one) => one.line.id === lineId);
    const [explained] = await this.withSources(invoice, line);
    if (explained === undefined) throw invoiceLineNotFound(lineId);
    return explained;
  }

  /**
   * Returns the calculation of an invoice: its totals, and a page of its lines in their order on the invoice.
   * @param page `after` is the id of the last line of the previous page; null for the first page
   * @throws {ProblemError} `invoice_not_found`, `invalid_cursor`
   */
  async explainInvoice(id: string, { limit, after }: PageRequest): Promise<ExplainedInvoice> {
    const { lines, ...explanation } = explain(await this.invoices.read(id));
    const { invoice } = explanation;
    const last = lines.findIndex(({ line }) => line.id === after);
    if (after !== null && last < 0) throw invalidCursor();
    const shown = lines.slice(last + 1, last + 1 + limit);
    const hasMore = last + 1 + limit < lines.length;
    const items = await this.withSources(invoice, shown);
    return {
      ...explanation,
      matches: explanation.matches && items.every(({ usageMatches }) => usageMatches !== false),
      creditSources: await this.credit.sourcesOf(invoice.credits.map(({ creditId }) => creditId)),
      page: {
        items,
        next: hasMore ? (shown.at(-1)?.line.id ?? null) : null,
      },
    };
  }

  /**
   * Adds price names, archived months and the result of counting usage again. Takes no snapshot, which would keep a
   * connection of the pool until all lines are counted again. Reads the months after the counts. So an event that is
   * archived meanwhile is counted, or its month is shown, or both.
   */
  private async withSources(
    invoice: Invoice,
    explained: readonly Explanation[],
  ): Promise<readonly ExplainedLine[]> {
    const lines = explained.map(({ line }) => line);
    const names = await this.catalog.getPriceNames(lines.flatMap(({ priceId }) => priceId ?? []));
    const metered = lines.filter(({ trace }) => trace.kind === 'usage');
    const queries = await this.queriesOf(invoice, metered);
    const recounted = await this.recount(metered, queries);
    const archived = await this.usage.listArchived(queries);
    const byLine = new Map(metered.map(({ id }, index) => [id, archived[index] ?? []]));
    return explained.map((one) => {
      const usageMatches = recounted.get(one.line.id) ?? null;
      return {
        ...one,
        matches: one.matches && usageMatches !== false,
        exact: exactAmountOf(one.line.trace),
        priceName: names.get(one.line.priceId ?? '') ?? null,
        archived: byLine.get(one.line.id) ?? [],
        usageMatches,
      };
    });
  }

  /**
   * Counts the usage of lines again from the stored events. If a meter has groups, counts all groups at once, and uses
   * this count for the lines of all groups. Leaves out weighted sums, because their values can carry over from any
   * earlier event.
   * @param queries the query of each line
   * @returns by line id: true if the line billed the counted usage, false if it billed other usage; null if there are
   *   too many events, or if some of them are archived
   */
  private async recount(
    lines: readonly InvoiceLine[],
    queries: readonly CountedQuery[],
  ): Promise<ReadonlyMap<string, boolean | null>> {
    const readings = new Map<string, ValuesByGroup | null>();
    const matches = new Map<string, boolean | null>();
    for (const [index, { id, trace }] of lines.entries()) {
      const query = queries[index];
      if (query === undefined || trace.kind !== 'usage') continue;
      const { period, upToPosition } = query;
      const meter = trace.isByGroup ? query.meter : { ...query.meter, groupBy: [] };
      if (meter.aggregation === 'weighted_sum') continue;
      const span = [period.startAt.getTime(), period.endAt.getTime(), upToPosition];
      const key = [meter.id, trace.isByGroup, ...span].join(' ');
      const known = readings.get(key);
      const reading =
        known === undefined ? valuesOf(await this.usage.recount({ ...query, meter })) : known;
      readings.set(key, reading);
      matches.set(id, reading === null ? null : isUsageOf(trace, reading));
    }
    return matches;
  }

  /** Returns the queries for the usage that the usage lines counted, in the order of the lines. */
  private async queriesOf(
    { customerId }: Invoice,
    lines: readonly InvoiceLine[],
  ): Promise<readonly CountedQuery[]> {
    const traces = lines.flatMap(({ trace }) => (trace.kind === 'usage' ? [trace] : []));
    const meters = await this.meters.getAll(traces.map(({ meter }) => meter.id));
    return traces.map(({ meter: { id }, period, countedFrom: heldSince, upToPosition }) => {
      const meter = meters.get(id);
      invariant(meter !== undefined, 'a meter that was billed exists');
      return { customerId, meter, period, heldSince, upToPosition };
    });
  }
}

/** Values by the JSON of their group. */
type ValuesByGroup = ReadonlyMap<string, Rational>;

function valuesOf(reading: UsageReading | null): ValuesByGroup | null {
  if (reading === null) return null;
  return new Map(reading.groups.map(({ group, value }) => [JSON.stringify(group), value]));
}

function isUsageOf({ parts }: UsageTrace, values: ValuesByGroup): boolean {
  return parts.every(({ group, quantity }) => {
    const value = values.get(JSON.stringify(group ?? [])) ?? ZERO;
    return compare(value, parseExact(quantity)) === 0;
  });
}
