import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type ListSummary,
  type Page,
  type PageRequest,
  Reports,
} from '../../platform/database';
import { CreditNoteEntity } from './credit-note.entity';
import type { CreditNote, CreditNoteFilter, GivenBack } from './domain/credit-note';
import type { ReturnedAmounts } from './domain/given-back';

const GIVEN = `
  SELECT coalesce(sum(to_receivable), 0)::text AS to_receivable, coalesce(sum(to_credit), 0)::text AS to_credit,
    coalesce(sum(to_refund), 0)::text AS to_refund
  FROM credit_note WHERE invoice_id = $1 AND status = 'issued'`;

@Injectable()
export class CreditNotesRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async insert(note: CreditNote): Promise<void> {
    await this.database.insert(CreditNoteEntity, note);
  }

  find(id: string): Promise<CreditNote | null> {
    return this.database.selectOne(CreditNoteEntity, 'WHERE id = $1', [id]);
  }

  page(filter: CreditNoteFilter, request: PageRequest): Promise<Page<CreditNote>> {
    return creditNoteQuery(filter).page(this.database, CreditNoteEntity, request);
  }

  summarize(filter: CreditNoteFilter): Promise<readonly ListSummary[]> {
    return creditNoteQuery(filter).summarize(this.reports, { total: 'total' });
  }

  /** Writes the fields that change when a credit note is voided. */
  async update({ id, status, voidedAt, voidedBy, version, updatedAt }: CreditNote): Promise<void> {
    const columns = { status, voidedAt, voidedBy, version, updatedAt };
    await this.database.update(CreditNoteEntity, id, columns);
  }

  /**
   * Returns the total of the issued credit notes of an invoice, in minor units and in three parts: the part that
   * lowered the amount owed, the part that became credit, and the part that refunds pay out.
   */
  async givenOf(invoiceId: string): Promise<Omit<GivenBack, keyof ReturnedAmounts | 'held'>> {
    const [row] = await this.database.query<{
      to_receivable: string;
      to_credit: string;
      to_refund: string;
    }>(GIVEN, [invoiceId]);
    return {
      toReceivableMinor: BigInt(row?.to_receivable ?? 0),
      toCreditMinor: BigInt(row?.to_credit ?? 0),
      toRefundMinor: BigInt(row?.to_refund ?? 0),
    };
  }
}

function creditNoteQuery(filter: CreditNoteFilter): ListQuery {
  return new ListQuery('credit_note')
    .where('customer_id = $', filter.customerId)
    .where('invoice_id = $', filter.invoiceId)
    .where('currency = $', filter.currency)
    .whereOneOf('status', filter.statuses)
    .whereBetween('created_at', filter.created)
    .whereAmountBetween('total', filter.total);
}
