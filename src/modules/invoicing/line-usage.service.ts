import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { PageRequest } from '../../platform/database';
import { type ArchivedMonth, type EventPage, type UsageQuery, UsageService } from '../metering';
import { MetersService } from '../meters';
import { explain, type Explanation } from './domain/explain';
import type { Invoice, InvoiceLine } from './domain/invoice';
import { InvoicesService } from './invoices.service';
import { invoiceLineNotFound, invoiceLineWithoutUsage } from './invoicing.errors';

/** Stored events that a line billed, and the archived months that have the others. */
export interface LineEvents {
  readonly page: EventPage;
  readonly archived: readonly ArchivedMonth[];
}

/** How a line was calculated. */
export interface ExplainedLine extends Explanation {
  readonly archived: readonly ArchivedMonth[];
}

/** Explains lines, and finds the events that they billed. */
@Injectable()
export class LineUsageService {
  constructor(
    private readonly invoices: InvoicesService,
    private readonly meters: MetersService,
    private readonly usage: UsageService,
  ) {}

  /**
   * The events that make up the quantity of a line, as they stood when it was made, in the order in which they happened,
   * those whose values were held from before its period included; of a line for late usage all those of its period.
   * @throws {ProblemError} `invoice_not_found`, `invoice_line_not_found`, `invoice_line_without_usage`, `invalid_cursor`
   */
  async listEvents(id: string, lineId: string, page: PageRequest): Promise<LineEvents> {
    const { invoice, line } = await this.find(id, lineId);
    if (line.trace.kind !== 'usage') throw invoiceLineWithoutUsage(lineId);
    const [part, ...others] = line.trace.parts;
    const group = part === undefined || others.length > 0 ? null : part.group;
    const query = await this.queryOf(invoice, line.trace);
    return {
      page: await this.usage.listCounted(query, group, page),
      archived: await this.usage.listArchived(query),
    };
  }

  /**
   * Returns how a line was calculated, and the archived months with events that it counted.
   * @throws {ProblemError} `invoice_not_found`, `invoice_line_not_found`
   */
  async explain(id: string, lineId: string): Promise<ExplainedLine> {
    const { invoice, line } = await this.find(id, lineId);
    const { trace } = line;
    const archived =
      trace.kind === 'usage'
        ? await this.usage.listArchived(await this.queryOf(invoice, trace))
        : [];
    return { ...explain(invoice, line), archived };
  }

  private async find(
    id: string,
    lineId: string,
  ): Promise<{ readonly invoice: Invoice; readonly line: InvoiceLine }> {
    const invoice = await this.invoices.get(id);
    const line = invoice.lines.find((one) => one.id === lineId);
    if (line === undefined) throw invoiceLineNotFound(lineId);
    return { invoice, line };
  }

  private async queryOf(
    { customerId }: Invoice,
    trace: Extract<InvoiceLine['trace'], { readonly kind: 'usage' }>,
  ): Promise<UsageQuery> {
    const { period, countedFrom: heldSince, upToPosition } = trace;
    const meter = (await this.meters.getAll([trace.meter.id])).get(trace.meter.id);
    invariant(meter !== undefined, 'a meter that was billed exists');
    return { customerId, meter, period, heldSince, upToPosition };
  }
}
