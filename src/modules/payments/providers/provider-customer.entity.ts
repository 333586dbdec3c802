import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

/** The provider's id of a customer. */
@Entity('provider_customer')
export class ProviderCustomerEntity {
  @ForeignKey('CustomerEntity', { name: 'provider_customer_customer_id_fkey' })
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  readonly customerId!: string;
  @PrimaryColumn({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 255 }) readonly reference!: string;
  @InstantColumn() readonly createdAt!: Date;
}
