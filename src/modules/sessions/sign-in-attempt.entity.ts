import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../platform/database';

@Entity('sign_in_attempt')
@Index('sign_in_attempt_last_index', ['lastTriedAt'])
export class SignInAttemptEntity {
  /**
   * One of: `account:` and the SHA-256 of an email (known or not), `address:` and an IP address, `openid:` and the
   * `state` of a sign-in with OpenID Connect.
   */
  @PrimaryColumn({ type: 'varchar', length: 100, collation: 'C' }) readonly key!: string;
  /** Times of at most five attempts, oldest first: the last one, and those in the 15 minutes before it. */
  @Column({ type: 'timestamptz', array: true }) readonly triedAt!: readonly Date[];
  @InstantColumn() readonly lastTriedAt!: Date;
}
