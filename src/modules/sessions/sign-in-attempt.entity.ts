import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../platform/database';

@Entity('sign_in_attempt')
@Index('sign_in_attempt_last_index', ['lastTriedAt'])
export class SignInAttemptEntity {
  /**
   * Key that attempts are counted for, in one of three forms:
   * - `account:` and the SHA-256 of an email, even of an email without an account
   * - `address:` and an IP address, or the /64 network of an IPv6 address
   * - `openid:` and the `state` of a sign-in with OpenID Connect
   */
  @PrimaryColumn({ type: 'varchar', length: 100, collation: 'C' }) readonly key!: string;
  /**
   * Times of the counted attempts, oldest first; at most five. A new attempt drops the times that are at least 15
   * minutes older than the new attempt.
   */
  @Column({ type: 'timestamptz', array: true }) readonly triedAt!: readonly Date[];
  @InstantColumn() readonly lastTriedAt!: Date;
}
