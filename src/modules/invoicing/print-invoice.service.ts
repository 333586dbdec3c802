import { Injectable } from '@nestjs/common';
import { ConcurrencyLimiter } from '../../platform/concurrency';
import { tooManyReports } from '../../platform/errors';
import { CustomersService } from '../customers';
import { toInvoiceDocument } from './domain/document/invoice-document';
import type { Invoice } from './domain/invoice';
import type { InvoiceSnapshots } from './domain/invoice-snapshots';
import { InvoicePrinter } from './invoice-printer';
import { InvoicesService } from './invoices.service';
import { InvoiceTextsService } from './invoice-texts.service';

/** Printing an invoice takes as long as answering many other requests, so only one invoice is printed at a time. */
const MAX_CONCURRENT = 1;
const MAX_WAITING = 16;

@Injectable()
export class PrintInvoiceService {
  private readonly limiter = new ConcurrencyLimiter(MAX_CONCURRENT, MAX_WAITING);

  constructor(
    private readonly invoices: InvoicesService,
    private readonly customers: CustomersService,
    private readonly printer: InvoicePrinter,
    private readonly texts: InvoiceTextsService,
  ) {}

  /**
   * Returns a PDF of the invoice, and its file name. The bytes are the same as long as the invoice is unchanged. A draft shows
   * the present customer and seller.
   * @throws {ProblemError} `invoice_not_found`, `too_many_reports`
   */
  async print(id: string): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
    const invoice = await this.invoices.get(id);
    const { buyer, seller } = invoice.snapshots ?? (await this.snapshotsOf(invoice));
    const document = toInvoiceDocument(invoice, buyer, seller);
    if (this.limiter.isFull) throw tooManyReports('print');
    const { bytes, missing } = await this.limiter.run(() => this.printer.print(document));
    this.texts.reportPrinted(invoice, missing);
    return { fileName: `${document.fileName}.pdf`, bytes };
  }

  private async snapshotsOf({ customerId }: Invoice): Promise<InvoiceSnapshots> {
    const customer = await this.customers.getForHistory(customerId);
    return this.texts.snapshotsOf(customer);
  }
}
