import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../database';

/**
 * Use of a key. `retiring`: the key only decrypts, until all texts are encrypted with another key. `retired`: no text
 * needs the key.
 */
export type KeyStatus = 'in_use' | 'retiring' | 'retired';

/** An encryption key used in this database. The encrypted sample shows if a process has the same key by this id. */
@Entity('encryption_key_use')
@Check('encryption_key_use_status_check', `"status" IN ('in_use', 'retiring', 'retired')`)
export class EncryptionKeyUseEntity {
  @PrimaryColumn({ type: 'varchar', length: 32, collation: 'C' }) readonly keyId!: string;
  /** Owner (see `SecretBox`) to which the encrypted sample is bound. Decryption needs the same text. */
  @Column({ type: 'text' }) readonly owner!: string;
  @Column({ type: 'text' }) readonly sealed!: string;
  @Column({ type: 'varchar', length: 20, default: 'in_use' }) readonly status!: KeyStatus;
  @InstantColumn() readonly createdAt!: Date;
}
