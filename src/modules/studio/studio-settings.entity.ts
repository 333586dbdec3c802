import { Column, Entity } from 'typeorm';
import { IdColumn, InstantColumn, RowVersionColumn } from '../../platform/database';

@Entity('studio_settings')
export class StudioSettingsEntity {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  /** Maximum refunds by currency code, in minor units, as text. */
  @Column({ type: 'jsonb' }) readonly supportRefundLimits!: Readonly<Record<string, string>>;
  @Column({ type: 'boolean', default: false }) readonly secondFactorRequired!: boolean;
  @InstantColumn() readonly updatedAt!: Date;
}
