import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { printableText } from '../../core/text';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { Metrics } from '../../platform/observability';
import type { Customer } from '../customers';
import type { Invoice } from './domain/invoice';
import { buyerOf, type InvoiceSnapshots } from './domain/invoice-snapshots';
import { InvoicePrinter } from './invoice-printer';

const MAX_LOGGED = 20;

/** Reads the seller and buyer of invoices. Logs and counts invoices with characters that no font can print. */
@Injectable()
export class InvoiceTextsService {
  private readonly logger = new Logger('invoice-texts');
  private readonly finalized: Counter;
  private readonly printed: Counter;

  constructor(
    private readonly database: Database,
    private readonly printer: InvoicePrinter,
    private readonly configuration: Configuration,
    metrics: Metrics,
  ) {
    const registers = [metrics.registry];
    this.finalized = new Counter({
      name: 'invoices_finalized_with_missing_glyphs_total',
      help: 'Finalized invoices with a character that no font has. INVOICE_FONTS names further fonts.',
      registers,
    });
    this.printed = new Counter({
      name: 'invoice_prints_with_missing_glyphs_total',
      help: 'Prints of invoices with a character that no font has. INVOICE_FONTS names further fonts.',
      registers,
    });
  }

  /** Returns the present names and addresses of the seller and a customer. */
  snapshotsOf(customer: Customer): InvoiceSnapshots {
    return { seller: this.configuration.seller, buyer: buyerOf(customer) };
  }

  /**
   * Finds, logs and counts the invoices with characters that no font has. Waits until the open transaction is
   * committed, because the search takes long for many lines, and the transaction has locked the invoice numbers. If the
   * search fails, the error is only logged, because the invoices are finalized.
   */
  reportFinalized(invoices: readonly Invoice[]): void {
    this.database.afterCommit(() => {
      for (const invoice of invoices) this.tryReport(invoice);
    });
  }

  /**
   * Logs and counts a printed invoice if characters of it were replaced, because no font has them.
   * @param missing the replaced characters; may be empty
   */
  reportPrinted(invoice: Invoice, missing: ReadonlySet<string>): void {
    if (missing.size === 0) return;
    this.printed.inc();
    this.log(invoice, missing, 'an invoice was printed with characters that no font has');
  }

  private tryReport(invoice: Invoice): void {
    try {
      const missing = this.printer.missingIn(textsOf(invoice));
      if (missing.size === 0) return;
      this.finalized.inc();
      this.log(invoice, missing, 'an invoice was finalized with characters that no font has');
    } catch (error) {
      this.logger.error(
        { err: error, invoice_id: invoice.id },
        'the characters of a finalized invoice were not checked',
      );
    }
  }

  private log({ id, status }: Invoice, missing: ReadonlySet<string>, message: string): void {
    const characters = Array.from(missing, (character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
    });
    this.logger.warn(
      { invoice_id: id, status, characters: characters.slice(0, MAX_LOGGED) },
      message,
    );
  }
}

/**
 * Returns the printed texts of an invoice that come from requests or the configuration, such as names. Omits all other
 * texts, because the built-in fonts have all their characters.
 */
function textsOf({ snapshots, lines, taxRates }: Invoice): readonly string[] {
  const { seller, buyer } = snapshots ?? {};
  const texts = [
    ...[seller?.name, seller?.taxId, seller?.email, ...(seller?.addressLines ?? [])],
    ...[buyer?.name, buyer?.email, ...(buyer?.addressLines ?? [])],
    ...lines.map(({ description }) => description),
    ...taxRates.map(({ name }) => name),
  ];
  return texts.flatMap((text) => (text === null || text === undefined ? [] : printableText(text)));
}
