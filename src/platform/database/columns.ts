import { Column, type ColumnOptions, PrimaryColumn } from 'typeorm';

/**
 * Column types that all tables share. Ids compare byte by byte (`COLLATE "C"`), so that they sort by creation
 * regardless of the server's locale.
 */
export function IdColumn(): PropertyDecorator {
  return PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' });
}

/** Id of another row. */
export function ReferenceColumn(options: Pick<ColumnOptions, 'nullable'> = {}): PropertyDecorator {
  return Column({ type: 'varchar', length: 40, collation: 'C', ...options });
}

/** Instant in milliseconds, the precision that the API shows. */
export function InstantColumn(options: Pick<ColumnOptions, 'nullable'> = {}): PropertyDecorator {
  return Column({ type: 'timestamptz', precision: 3, ...options });
}

const bigintTransformer = {
  from: (text: string | null): bigint | null => (text === null ? null : BigInt(text)),
  to: (value: bigint | null | undefined): string | null | undefined =>
    typeof value === 'bigint' ? value.toString() : value,
};

/** Integer minor units of a currency. */
export function AmountColumn(
  options: Pick<ColumnOptions, 'nullable' | 'default'> = {},
): PropertyDecorator {
  return Column({ type: 'bigint', transformer: bigintTransformer, ...options });
}

export function MetadataColumn(): PropertyDecorator {
  return Column({ type: 'jsonb' });
}

/** Counts the changes of a row. The ETag contains it. */
export function RowVersionColumn(): PropertyDecorator {
  return Column({ type: 'integer' });
}
