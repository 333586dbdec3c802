import { Check, Column, Entity } from 'typeorm';
import { InstantKeyColumn, StreamKeyColumn } from './usage-columns';

/** Numbers of duplicates and of rejected events, by customer, event name and UTC hour of the event timestamps. */
@Entity('usage_tally')
@Check('usage_tally_check', `"accepted" >= 0 AND "duplicates" >= 0 AND "rejected" >= 0`)
export class UsageTallyEntity {
  @StreamKeyColumn() readonly streamId!: string;
  @InstantKeyColumn() readonly hour!: Date;
  /** Written and read only by the previous release. */
  @Column({ type: 'bigint', default: 0 }) readonly accepted!: string;
  @Column({ type: 'bigint' }) readonly duplicates!: string;
  @Column({ type: 'bigint' }) readonly rejected!: string;
}
