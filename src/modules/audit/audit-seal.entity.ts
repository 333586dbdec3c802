import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../platform/database';

/** Hash over the changes with positions in `(from_position, to_position]` and over the previous seal. Append-only. */
@Entity('audit_seal')
@Check('audit_seal_positions_check', `"from_position" < "to_position"`)
export class AuditSealEntity {
  /** 1, 2, 3, … without gaps. */
  @PrimaryColumn({ type: 'bigint' }) readonly number!: string;
  @Column({ type: 'bigint' }) readonly fromPosition!: string;
  @Column({ type: 'bigint' }) readonly toPosition!: string;
  @Column({ type: 'integer' }) readonly changeCount!: number;
  @Column({ type: 'char', length: 64 }) readonly hash!: string;
  @InstantColumn() readonly createdAt!: Date;
}
