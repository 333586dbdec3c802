import { Column, Entity, PrimaryColumn } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

@Entity('provider_customer')
export class ProviderCustomerEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @PrimaryColumn({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 255 }) readonly reference!: string;
  @InstantColumn() readonly createdAt!: Date;
}
