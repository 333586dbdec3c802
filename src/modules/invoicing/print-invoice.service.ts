import { Injectable } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import { type Address, type Customer, CustomersService } from '../customers';
import { type Buyer, toInvoiceDocument } from './domain/document/invoice-document';
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
   * A PDF of the invoice, and what to call its file; the same bytes as long as the invoice, its customer and the seller's
   * details stay as they are.
   * @throws {ProblemError} `invoice_not_found`
   */
  async print(id: string): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
    const invoice = await this.invoices.get(id);
    const customer = await this.customers.getForHistory(invoice.customerId);
    const document = toInvoiceDocument(invoice, toBuyer(customer), this.configuration.seller);
    return { fileName: `${document.fileName}.pdf`, bytes: await this.printer.print(document) };
  }
}

function toBuyer({ name, email, address, timezone }: Customer): Buyer {
  return { name, email, timezone, addressLines: address === null ? [] : linesOf(address) };
}

function linesOf({ line1, line2, postalCode, city, state, country }: Address): readonly string[] {
  const place = [postalCode, city, state].filter((part) => part !== null).join(' ');
  return [line1, line2, place, country].filter((line) => line !== null && line !== '') as string[];
}
