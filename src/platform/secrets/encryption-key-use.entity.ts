import { Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../database';

/** A sample sealed with an encryption key of this database. A process that cannot open it has a wrong key. */
@Entity('encryption_key_use')
export class EncryptionKeyUseEntity {
  @PrimaryColumn({ type: 'varchar', length: 32, collation: 'C' }) readonly keyId!: string;
  /** Owner that the sealed text is bound to, needed to open it. */
  @Column({ type: 'text' }) readonly owner!: string;
  @Column({ type: 'text' }) readonly sealed!: string;
  @InstantColumn() readonly createdAt!: Date;
}
