import { Injectable } from '@nestjs/common';

/** A column with encrypted texts, which begin with `v1:`. All other texts in the column are not encrypted. */
export interface SealedColumn {
  readonly table: string;
  /** Column of the primary key. It must have a text type. */
  readonly key: string;
  readonly column: string;
  /** Returns the owner (see `SecretBox`) of the text in the row with this primary key. Decryption needs the owner. */
  readonly ownerOf: (key: string) => string;
  /** Deletes rows whose texts are not needed any more. A rotation calls it first. */
  readonly deleteExpired?: () => Promise<void>;
}

/** Columns whose texts a rotation of the encryption keys encrypts again. Each module registers its own columns. */
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
