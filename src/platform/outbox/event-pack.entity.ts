import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The data of events of one commit, stored together because PostgreSQL compresses large rows only. */
@Entity('event_pack')
export class EventPackEntity {
  /** From the sequence `event_pack_id`. */
  @PrimaryColumn({ type: 'bigint' }) readonly id!: string;
  /** In the order of `pack_place` of the events, from 1. Type `json`, not `jsonb`, so that keys keep the order of the API. */
  @Column({ type: 'json', array: true }) readonly data!: readonly object[];
}
