import { Check, Entity, ForeignKey } from 'typeorm';
import { InstantKeyColumn, MeterKeyColumn, StreamKeyColumn } from './usage-columns';

/** Registered window: a period of any length with running totals of its own. */
@Entity('usage_window')
@Check('usage_window_check', `"start_at" < "end_at"`)
export class UsageWindowEntity {
  @StreamKeyColumn() @ForeignKey('UsageStreamEntity') readonly streamId!: string;
  @MeterKeyColumn() @ForeignKey('MeterEntity') readonly meterId!: string;
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantKeyColumn() readonly endAt!: Date;
}
