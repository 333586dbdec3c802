import { Check, Column, Entity } from 'typeorm';
import { BigIntColumn, InstantColumn } from '../../platform/database';
import type { Seal } from './seal';

/** A seal: hash over the changes in `(from_position, to_position]` and the hash of the previous seal. Append-only. */
@Entity('audit_seal')
@Check('audit_seal_positions_check', `"from_position" < "to_position"`)
export class AuditSealEntity implements Seal {
  @BigIntColumn({ primary: true }) readonly number!: bigint;
  @BigIntColumn({ name: 'from_position' }) readonly from!: bigint;
  @BigIntColumn({ name: 'to_position' }) readonly to!: bigint;
  @Column({ type: 'integer' }) readonly changeCount!: number;
  @Column({ type: 'char', length: 64 }) readonly hash!: string;
  @InstantColumn() readonly createdAt!: Date;
}
