import { Entity, Index, PrimaryColumn } from 'typeorm';
import { ExactJsonColumn } from '../../platform/database';
import type { SplitTrace } from './domain/shared-trace';

/**
 * Part of the calculation of an invoice line (its trace) that many lines share. Append-only. Lines refer to these rows
 * without a foreign key, because the foreign key check would lock the same few rows on every insert of a line.
 */
@Entity('shared_trace')
// Index on an expression, which entities cannot define: the hash of the trace.
@Index('shared_trace_hash_index', { synchronize: false })
export class SharedTraceEntity {
  /** From the sequence `shared_trace_id`. */
  @PrimaryColumn({ type: 'bigint' }) readonly id!: string;
  @ExactJsonColumn() readonly trace!: NonNullable<SplitTrace['shared']>;
}
