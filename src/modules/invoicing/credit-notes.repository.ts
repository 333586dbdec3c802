import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import { CreditNoteEntity } from './credit-note.entity';
import type { CreditNote } from './domain/credit-note';

const SUM_TO_REFUND = `
  SELECT customer_id, trim(currency) AS currency, sum(to_refund)::text AS amount
  FROM credit_note WHERE status = 'issued' AND to_refund <> 0 GROUP BY 1, 2`;

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

  /** What notes that stand gave to be refunded, by customer, in minor units. */
  async sumToRefund(): Promise<
    readonly { customerId: string; currency: string; amountMinor: bigint }[]
  > {
    const rows = await this.database.query<{
      customer_id: string;
      currency: string;
      amount: string;
    }>(SUM_TO_REFUND);
    return rows.map(({ customer_id: customerId, currency, amount }) => ({
      customerId,
      currency,
      amountMinor: BigInt(amount),
    }));
  }

  private get notes() {
    return this.database.repository(CreditNoteEntity);
  }
}
