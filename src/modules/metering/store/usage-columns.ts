import { Column, PrimaryColumn } from 'typeorm';

/** The names in a group, as the canonical JSON array of their texts. */
const GROUP_KEY = { type: 'varchar', length: 1000, collation: 'C' } as const;

/** Part of the key of what is counted of a stream; the stream has no foreign key, its rows are written by the thousand. */
export function StreamKeyColumn(): PropertyDecorator {
  return PrimaryColumn({ type: 'bigint' });
}

export function MeterKeyColumn(): PropertyDecorator {
  return PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' });
}

export function InstantKeyColumn(): PropertyDecorator {
  return PrimaryColumn({ type: 'timestamptz', precision: 3 });
}

export function GroupKeyColumn(): PropertyDecorator {
  return PrimaryColumn(GROUP_KEY);
}

export function GroupColumn(): PropertyDecorator {
  return Column(GROUP_KEY);
}
