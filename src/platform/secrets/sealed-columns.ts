import { Injectable } from '@nestjs/common';

/** A column with encrypted texts, which begin with `v1:`. Its other texts are not encrypted. */
export interface SealedColumn {
  readonly table: string;
  /** Column of the primary key. It must have a text type. */
  readonly key: string;
  readonly column: string;
  /** Returns the owner of the text in the row with this primary key. Decryption needs the same owner as encryption. */
  readonly ownerOf: (key: string) => string;
}

/**
 * Registry of columns with encrypted texts. A rotation of the encryption keys encrypts these texts again. Each module
 * registers its own columns.
 */
@Injectable()
export class SealedColumns {
  private readonly columns: SealedColumn[] = [];

  register(column: SealedColumn): void {
    this.columns.push(column);
  }

  get all(): readonly SealedColumn[] {
    return this.columns;
  }
}
