import { applyDecorators } from '@nestjs/common';
import { Column, type ColumnOptions, ForeignKey, PrimaryColumn } from 'typeorm';

/** Compares ids byte by byte (`COLLATE "C"`), whatever the server's locale is. Ids then sort by creation time. */
const ID = { type: 'varchar', length: 40, collation: 'C' } as const;

interface ReferenceOptions {
  /** Name of the entity class that the foreign key of the column refers to. Absent: the column has no foreign key. */
  readonly to?: string;
  readonly onDelete?: 'CASCADE';
}

export function IdColumn(options: ReferenceOptions = {}): PropertyDecorator {
  return withForeignKey(PrimaryColumn(ID), options);
}

export function ReferenceColumn({
  nullable = false,
  ...options
}: ReferenceOptions & { readonly nullable?: boolean } = {}): PropertyDecorator {
  return withForeignKey(Column({ ...ID, nullable }), options);
}

function withForeignKey(column: PropertyDecorator, options: ReferenceOptions): PropertyDecorator {
  const { to, ...keyOptions } = options;
  return to === undefined ? column : applyDecorators(column, ForeignKey(to, keyOptions));
}

/** Instant with a precision of milliseconds, as the API shows it. */
export function InstantColumn(
  options: Pick<ColumnOptions, 'nullable' | 'default'> = {},
): PropertyDecorator {
  return Column({ type: 'timestamptz', precision: 3, ...options });
}

const bigintTransformer = {
  from: (text: string | null): bigint | null => (text === null ? null : BigInt(text)),
  to: (value: bigint | null | undefined): string | null | undefined =>
    typeof value === 'bigint' ? value.toString() : value,
};

export function BigIntColumn(
  options: Pick<ColumnOptions, 'name' | 'nullable' | 'default' | 'primary'> = {},
): PropertyDecorator {
  return Column({ type: 'bigint', transformer: bigintTransformer, ...options });
}

/** Count that stays below 2^53, so that a JavaScript number holds it exactly. */
export function CountColumn(options: Pick<ColumnOptions, 'default'> = {}): PropertyDecorator {
  return Column({ type: 'bigint', transformer: { from: Number, to: String }, ...options });
}

/** Amount in minor units of a currency. */
export function AmountColumn(
  options: Pick<ColumnOptions, 'nullable' | 'default'> = {},
): PropertyDecorator {
  return BigIntColumn(options);
}

export function MetadataColumn(): PropertyDecorator {
  return Column({ type: 'jsonb' });
}

/** Version number of a row. Each change increments it, and the ETag of the resource contains it. */
export function RowVersionColumn(): PropertyDecorator {
  return Column({ type: 'integer' });
}
