import { Check, Entity, ForeignKey } from 'typeorm';
import { InstantKeyColumn, MeterKeyColumn, StreamKeyColumn } from './usage-columns';

/** A period of any length whose running totals are kept beside those of the hours. */
@Entity('usage_window')
@Check('usage_window_check', `"start_at" < "end_at"`)
export class UsageWindowEntity {
  @StreamKeyColumn() @ForeignKey('UsageStreamEntity') readonly streamId!: string;
  @MeterKeyColumn() @ForeignKey('MeterEntity') readonly meterId!: string;
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantKeyColumn() readonly endAt!: Date;
}
