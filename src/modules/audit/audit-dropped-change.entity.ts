import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Hash of a dropped change whose seal also covers remaining changes. Append-only. */
@Entity('audit_dropped_change')
export class AuditDroppedChangeEntity {
  @PrimaryColumn({ type: 'bigint' }) readonly position!: string;
  @Column({ type: 'bytea' }) readonly rowHash!: Buffer;
}
