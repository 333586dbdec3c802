import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Data of several events of one commit. It is stored in one row, because PostgreSQL compresses only large rows. */
@Entity('event_pack')
export class EventPackEntity {
  /** Number from the sequence `event_pack_id`. */
  @PrimaryColumn({ type: 'bigint' }) readonly id!: string;
  /**
   * Data of the events. The `pack_place` of an event is the position of its data, from 1. Type `json`, not `jsonb`, so
   * that keys keep the order of the API.
   */
  @Column({ type: 'json', array: true }) readonly data!: readonly object[];
}
