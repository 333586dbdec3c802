import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import { CreditNoteEntity } from './credit-note.entity';
import type { CreditNote } from './domain/credit-note';

const GIVEN = `
  SELECT coalesce(sum(to_credit), 0)::text AS to_credit, coalesce(sum(to_refund), 0)::text AS to_refund
  FROM credit_note WHERE invoice_id = $1 AND status = 'issued'`;

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
  async update({ id, status, voidedAt, voidedBy, version, updatedAt }: CreditNote): Promise<void> {
    const columns = { status, voidedAt, voidedBy, version, updatedAt };
    await this.database.update(CreditNoteEntity, id, columns);
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

  private get notes() {
    return this.database.repository(CreditNoteEntity);
  }
}
