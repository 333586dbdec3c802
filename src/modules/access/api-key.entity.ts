import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { GrantedScope } from '../../core/access';
import { IdColumn, InstantColumn, RowVersionColumn } from '../../platform/database';
import type { ApiKey } from './domain/api-key';

@Entity('api_key')
@Unique('api_key_hash_unique', ['hash'])
@Index('api_key_previous_hash_index', ['previousHash'], { where: '"previous_hash" IS NOT NULL' })
@Check('api_key_previous_check', `("previous_hash" IS NULL) = ("previous_expires_at" IS NULL)`)
@Check('api_key_scopes_check', `cardinality("scopes") > 0`)
@Check('api_key_limits_check', `"requests_per_minute" > 0 AND "usage_requests_per_minute" > 0`)
export class ApiKeyEntity implements ApiKey {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 40, array: true }) readonly scopes!: readonly GrantedScope[];
  /** SHA-256 of the current secret, in hex. */
  @Column({ type: 'char', length: 64 }) readonly hash!: string;
  @Column({ type: 'varchar', length: 24 }) readonly prefix!: string;
  @Column({ type: 'char', length: 4 }) readonly lastFour!: string;
  /**
   * SHA-256 of the previous secret, in hex. Null if the last roll (replacement of the secret) had no overlap, or if the
   * key was never rolled.
   */
  @Column({ type: 'char', length: 64, nullable: true }) readonly previousHash!: string | null;
  @InstantColumn({ nullable: true }) readonly previousExpiresAt!: Date | null;
  /**
   * SHA-256 of the first secret of a key that was created from `BOOTSTRAP_API_KEY`, in hex. A roll keeps this hash.
   * Null for other keys. Also null if a release without this column rolled the key, because the hash of the first
   * secret is then lost.
   */
  @Column({ type: 'char', length: 64, nullable: true }) readonly bootstrapHash!: string | null;
  @InstantColumn({ nullable: true }) readonly expiresAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly revokedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly lastUsedAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly requestsPerMinute!: number | null;
  @Column({ type: 'integer', nullable: true }) readonly usageRequestsPerMinute!: number | null;
  @Column({ type: 'varchar', length: 40 }) readonly createdBy!: string;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
