import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import { CreditNoteEntity } from './credit-note.entity';
import type { CreditNote } from './domain/credit-note';

const GIVEN = `
  SELECT coalesce(sum(to_credit), 0)::text AS to_credit, coalesce(sum(to_refund), 0)::text AS to_refund
  FROM credit_note WHERE invoice_id = $1 AND status = 'issued'`;

/** Lines of later invoices that credit lines of an invoice, and notes, as far as they did not lower what it owes. */
const GIVEN_AS_CREDIT = `
  SELECT (note.credit + line.credit - invoice.amount_credited + note.lowered)::text AS credit,
    (note.credit + line.credit > 0) AS is_credited
  FROM invoice,
    LATERAL (SELECT coalesce(sum(to_credit), 0) AS credit, coalesce(sum(to_receivable), 0) AS lowered
      FROM credit_note WHERE invoice_id = invoice.id AND status = 'issued') note,
    LATERAL (SELECT coalesce(-sum(credit.net + credit.tax), 0) AS credit
      FROM invoice_line billed
        JOIN invoice_line credit ON credit.credits_line_id = billed.id
        JOIN invoice later ON later.id = credit.invoice_id AND later.status NOT IN ('draft', 'void')
      WHERE billed.invoice_id = invoice.id) line
  WHERE invoice.id = $1`;

@Injectable()
export class CreditNotesRepository {
  constructor(private readonly database: Database) {}

  async insert(note: CreditNote): Promise<void> {
    await this.database.insert(CreditNoteEntity, note);
  }

  find(id: string): Promise<CreditNote | null> {
    return this.notes.findOneBy({ id });
  }

  page(invoiceId: string | null, request: PageRequest): Promise<Page<CreditNote>> {
    const query = this.notes.createQueryBuilder('note');
    if (invoiceId !== null) query.where('note.invoiceId = :invoiceId', { invoiceId });
    return pageById(query, request);
  }

  /** Writes what a void changes. */
  async update({ id, status, voidedAt, version, updatedAt }: CreditNote): Promise<void> {
    await this.database.update(CreditNoteEntity, id, { status, voidedAt, version, updatedAt });
  }

  /** The parts of an invoice that its notes gave as credit, and to be refunded, in minor units. */
  async givenOf(
    invoiceId: string,
  ): Promise<{ readonly toCreditMinor: bigint; readonly toRefundMinor: bigint }> {
    const [row] = await this.database.query<{ to_credit: string; to_refund: string }>(GIVEN, [
      invoiceId,
    ]);
    return {
      toCreditMinor: BigInt(row?.to_credit ?? 0),
      toRefundMinor: BigInt(row?.to_refund ?? 0),
    };
  }

  /**
   * Returns what credit notes and later invoices gave back of an invoice as credit, in minor units; null if they gave nothing.
   * Credit that lowered what the invoice owes was never paid, and does not count.
   */
  async givenAsCredit(invoiceId: string): Promise<bigint | null> {
    const [row] = await this.database.query<{ credit: string; is_credited: boolean }>(
      GIVEN_AS_CREDIT,
      [invoiceId],
    );
    return row?.is_credited === true ? BigInt(row.credit) : null;
  }

  private get notes() {
    return this.database.repository(CreditNoteEntity);
  }
}
