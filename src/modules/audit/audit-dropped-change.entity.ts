import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Hash of a dropped change whose seal (checksum over a group of changes) also covers changes that were kept.
 * Verification of the seal uses this hash, because the row of the change is gone. Append-only.
 */
@Entity('audit_dropped_change')
export class AuditDroppedChangeEntity {
  @PrimaryColumn({ type: 'bigint' }) readonly position!: string;
  @Column({ type: 'bytea' }) readonly rowHash!: Buffer;
}
