import { Injectable } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import { CustomersService } from '../customers';
import { toInvoiceDocument } from './domain/document/invoice-document';
import type { Invoice } from './domain/invoice';
import { buyerOf, type Parties } from './domain/parties';
import { InvoicePrinter } from './invoice-printer';
import { InvoicesService } from './invoices.service';

/** Invoices on paper. */
@Injectable()
export class PrintInvoiceService {
  constructor(
    private readonly invoices: InvoicesService,
    private readonly customers: CustomersService,
    private readonly printer: InvoicePrinter,
    private readonly configuration: Configuration,
  ) {}

  /**
   * A PDF of the invoice, and what to call its file; the same bytes as long as the invoice stays as it is. A draft shows the
   * customer and the seller as they are now.
   * @throws {ProblemError} `invoice_not_found`
   */
  async print(id: string): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
    const invoice = await this.invoices.get(id);
    const { buyer, seller } = invoice.parties ?? (await this.partiesOf(invoice));
    const document = toInvoiceDocument(invoice, buyer, seller);
    return { fileName: `${document.fileName}.pdf`, bytes: await this.printer.print(document) };
  }

  private async partiesOf({ customerId }: Invoice): Promise<Parties> {
    const customer = await this.customers.getForHistory(customerId);
    return { seller: this.configuration.seller, buyer: buyerOf(customer) };
  }
}
