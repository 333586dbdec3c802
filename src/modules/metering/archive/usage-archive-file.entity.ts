import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { CountColumn, InstantColumn } from '../../../platform/database';
import type { RecordedFile } from '../domain/archive-file';
import { InstantKeyColumn } from '../store/usage-columns';

/** A file with archived events of one month. It is complete and on disk before its row is committed. */
@Entity('usage_archive_file')
@Check('usage_archive_file_check', `"number" > 0 AND "events" > 0 AND "bytes" > 0`)
export class UsageArchiveFileEntity implements RecordedFile {
  @InstantKeyColumn() readonly month!: Date;
  @PrimaryColumn({ type: 'integer' }) readonly number!: number;
  @Column({ type: 'varchar', length: 100, collation: 'C' }) readonly name!: string;
  @Column({ type: 'integer' }) readonly events!: number;
  @CountColumn() readonly bytes!: number;
  @Column({ type: 'char', length: 64, collation: 'C' }) readonly sha256!: string;
  @InstantColumn() readonly writtenAt!: Date;
  @InstantColumn({ nullable: true }) readonly verifiedAt!: Date | null;
}
