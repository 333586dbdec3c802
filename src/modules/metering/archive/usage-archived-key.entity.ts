import { Entity, PrimaryColumn } from 'typeorm';

/** Key of an archived event. It stays used for ever. */
@Entity('usage_archived_key')
export class UsageArchivedKeyEntity {
  /** As in `usage_event`. */
  @PrimaryColumn({ type: 'uuid' }) readonly keyDigest!: string;
}
