import { Entity, PrimaryColumn } from 'typeorm';

/** Key of an archived event. Kept for ever, so that the key is not accepted again. */
@Entity('usage_archived_key')
export class UsageArchivedKeyEntity {
  /** First 16 bytes of the SHA-256 of the key, as in `usage_event`. */
  @PrimaryColumn({ type: 'uuid' }) readonly keyDigest!: string;
}
