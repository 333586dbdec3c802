import { Column, PrimaryColumn } from 'typeorm';

/** JSON array of the values, as text, of the properties that a meter groups by. */
const GROUP_KEY = { type: 'varchar', length: 1000, collation: 'C' } as const;

/** Stream id in a primary key. Has no foreign key, because checking it for each of thousands of rows takes too long. */
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
