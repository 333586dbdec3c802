import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import { CreditNoteEntity } from './credit-note.entity';
import type { CreditNote } from './domain/credit-note';

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

  private get notes() {
    return this.database.repository(CreditNoteEntity);
  }
}
