import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Configuration } from '../../platform/config';
import { Metrics } from '../../platform/observability';
import { CustomersService } from '../customers';
import { toInvoiceDocument } from './domain/document/invoice-document';
import type { Invoice } from './domain/invoice';
import { buyerOf, type InvoiceSnapshots } from './domain/invoice-snapshots';
import { InvoicePrinter } from './invoice-printer';
import { InvoicesService } from './invoices.service';

/** Invoices on paper. */
@Injectable()
export class PrintInvoiceService {
  private readonly logger = new Logger('print-invoice');
  private readonly unprintable: Counter;

  constructor(
    private readonly invoices: InvoicesService,
    private readonly customers: CustomersService,
    private readonly printer: InvoicePrinter,
    private readonly configuration: Configuration,
    metrics: Metrics,
  ) {
    this.unprintable = new Counter({
      name: 'invoice_prints_with_missing_glyphs_total',
      help: 'Prints of invoices with a character that no font has. INVOICE_FONTS names further fonts.',
      registers: [metrics.registry],
    });
  }

  /**
   * A PDF of the invoice, and what to call its file; the same bytes as long as the invoice stays as it is. A draft shows the
   * customer and the seller as they are now.
   * @throws {ProblemError} `invoice_not_found`
   */
  async print(id: string): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
    const invoice = await this.invoices.get(id);
    const { buyer, seller } = invoice.parties ?? (await this.snapshotsOf(invoice));
    const document = toInvoiceDocument(invoice, buyer, seller);
    const { bytes, missing } = await this.printer.print(document);
    if (missing.size > 0) this.reportMissing(invoice, missing);
    return { fileName: `${document.fileName}.pdf`, bytes };
  }

  private reportMissing({ id, status }: Invoice, missing: ReadonlySet<string>): void {
    this.unprintable.inc();
    const characters = Array.from(missing, (character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
    });
    this.logger.warn(
      { invoice_id: id, status, characters: characters.slice(0, 20) },
      'an invoice was printed with characters that no font has',
    );
  }

  private async snapshotsOf({ customerId }: Invoice): Promise<InvoiceSnapshots> {
    const customer = await this.customers.getForHistory(customerId);
    return { seller: this.configuration.seller, buyer: buyerOf(customer) };
  }
}
