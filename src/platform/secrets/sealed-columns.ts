import { Injectable } from '@nestjs/common';

/** A column with sealed texts. Texts in clear may be beside them if none begins as a sealed text does. */
export interface SealedColumn {
  readonly table: string;
  /** Column of the primary key, a text. */
  readonly key: string;
  readonly column: string;
  /** Returns the owner that the text in the row with this key is bound to. */
  readonly ownerOf: (key: string) => string;
}

/** Columns that a change of the encryption key has to seal again. Each part that stores sealed texts registers its own. */
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
