import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Hash of a dropped change. Stored if the seal of the change also covers changes that were not dropped. Append-only. */
@Entity('audit_dropped_change')
export class AuditDroppedChangeEntity {
  @PrimaryColumn({ type: 'bigint' }) readonly position!: string;
  @Column({ type: 'bytea' }) readonly rowHash!: Buffer;
}
