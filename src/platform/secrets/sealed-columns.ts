import { Injectable } from '@nestjs/common';

/** A column with encrypted texts, which begin with `v1:`. It may also have clear texts that begin otherwise. */
export interface SealedColumn {
  readonly table: string;
  /** Column of the primary key, whose type is a text type. */
  readonly key: string;
  readonly column: string;
  /** Returns the owner to which the text of the row with this key is bound. */
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
