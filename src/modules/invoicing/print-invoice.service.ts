import { Injectable } from '@nestjs/common';
import type { Principal } from '../../platform/access';
import { ConcurrencyLimiter } from '../../platform/concurrency';
import { raise, tooManyReports } from '../../platform/errors';
import { CustomersService } from '../customers';
import { type InvoiceDocument, toInvoiceDocument } from './domain/document/invoice-document';
import type { Invoice } from './domain/invoice';
import type { InvoiceSnapshots } from './domain/invoice-snapshots';
import { InvoicePrinter, type PrintedInvoice } from './invoice-printer';
import { invoiceNotFound } from './invoicing.errors';
import { InvoicesService } from './invoices.service';
import { InvoiceTextsService } from './invoice-texts.service';

/**
 * Printing an invoice blocks the event loop for about 20 to 100 ms, and with thousands of lines for about a second. So
 * only one invoice is printed at a time. Before the next print, the service waits as long as the last print took, so
 * that other requests are answered.
 */
const MAX_CONCURRENT = 1;
const MAX_WAITING = 16;

@Injectable()
export class PrintInvoiceService {
  private readonly limiter = new ConcurrencyLimiter(MAX_CONCURRENT, MAX_WAITING);
  /** Ids of customer tokens with an invoice that is being printed or waits to be printed. */
  private readonly busyTokens = new Set<string>();

  constructor(
    private readonly invoices: InvoicesService,
    private readonly customers: CustomersService,
    private readonly printer: InvoicePrinter,
    private readonly texts: InvoiceTextsService,
  ) {}

  /**
   * Returns a PDF of the invoice, and its file name. As long as a finalized invoice is unchanged, its PDF has the same
   * bytes. A draft shows the present customer and seller. A customer token can print one invoice at a time.
   * @throws {ProblemError} `invoice_not_found`, `too_many_reports`
   */
  async print(
    id: string,
    { kind, id: callerId }: Pick<Principal, 'kind' | 'id'>,
  ): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
    const invoice = await this.invoices.get(id);
    const { buyer, seller } = invoice.snapshots ?? (await this.snapshotsOf(invoice));
    const document = toInvoiceDocument(invoice, buyer, seller);
    if (this.limiter.isFull || this.busyTokens.has(callerId)) throw tooManyReports('print');
    if (kind === 'customer_token') this.busyTokens.add(callerId);
    const { bytes, missing } = await this.printInTurn(document).finally(() =>
      this.busyTokens.delete(callerId),
    );
    this.texts.reportPrinted(invoice, missing);
    return { fileName: `${document.fileName}.pdf`, bytes };
  }

  private async printInTurn(document: InvoiceDocument): Promise<PrintedInvoice> {
    const endTurn = await this.limiter.enter();
    const startedAt = performance.now();
    try {
      return await this.printer.print(document);
    } finally {
      setTimeout(endTurn, performance.now() - startedAt);
    }
  }

  private async snapshotsOf({ id, customerId }: Invoice): Promise<InvoiceSnapshots> {
    const customers = await this.customers.getAllForHistory([customerId]);
    // Null if the customer was purged, with the invoice, since the invoice was read.
    const customer = customers.get(customerId) ?? raise(invoiceNotFound(id));
    return this.texts.snapshotsOf(customer);
  }
}
