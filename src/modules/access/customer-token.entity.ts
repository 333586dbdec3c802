import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { CustomerScope, CustomerToken } from './domain/customer-token';

@Entity('customer_token')
@Unique('customer_token_hash_unique', ['hash'])
@Index('customer_token_customer_index', ['customerId'])
@Index('customer_token_expires_at_index', ['expiresAt'])
@Check('customer_token_scopes_check', `cardinality("scopes") > 0`)
export class CustomerTokenEntity implements CustomerToken {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'CustomerEntity', onDelete: 'CASCADE' }) readonly customerId!: string;
  @Column({ type: 'varchar', length: 40, array: true }) readonly scopes!: readonly CustomerScope[];
  /** SHA-256 of the token, in hex. */
  @Column({ type: 'char', length: 64 }) readonly hash!: string;
  @InstantColumn() readonly expiresAt!: Date;
  @Column({ type: 'varchar', length: 40 }) readonly createdBy!: string;
  @Column({ type: 'boolean', default: false }) readonly issuerUsedPassword!: boolean;
  @InstantColumn() readonly createdAt!: Date;
}
