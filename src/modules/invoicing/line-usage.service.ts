import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { PageRequest } from '../../platform/database';
import { type EventPage, UsageService } from '../metering';
import { MetersService } from '../meters';
import { InvoicesService } from './invoices.service';
import { invoiceLineNotFound, invoiceLineWithoutUsage } from './invoicing.errors';

/** Finds the events that lines billed. */
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
  async listEvents(id: string, lineId: string, page: PageRequest): Promise<EventPage> {
    const { customerId, lines } = await this.invoices.get(id);
    const line = lines.find((one) => one.id === lineId);
    if (line === undefined) throw invoiceLineNotFound(lineId);
    const { trace } = line;
    if (trace.kind !== 'usage') throw invoiceLineWithoutUsage(lineId);
    const { period, countedFrom, upToPosition, parts } = trace;
    const meter = (await this.meters.getAll([trace.meter.id])).get(trace.meter.id);
    invariant(meter !== undefined, 'a meter that was billed exists');
    const [part, ...others] = parts;
    const group = part === undefined || others.length > 0 ? null : part.group;
    const query = { customerId, meter, period, heldSince: countedFrom, upToPosition };
    return this.usage.listCounted(query, group, page);
  }
}
