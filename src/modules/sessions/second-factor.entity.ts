import { Column, Entity, Unique } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { SecondFactor } from './domain/second-factor';

@Entity('admin_second_factor')
@Unique('admin_second_factor_admin_unique', ['adminId'])
export class SecondFactorEntity implements SecondFactor {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn() readonly adminId!: string;
  @Column({ type: 'text' }) readonly sealedSecret!: string;
  @Column({ type: 'integer', nullable: true }) readonly lastStep!: number | null;
  @Column({ type: 'char', length: 64, array: true }) readonly recoveryHashes!: readonly string[];
  @InstantColumn({ nullable: true }) readonly enabledAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
