import { Injectable } from '@nestjs/common';
import type { AdminRole, GrantedScope } from '../../core/access';
import { Database } from '../../platform/database';
import { CustomerTokenEntity } from './customer-token.entity';
import type { CustomerScope, CustomerToken } from './domain/customer-token';

/** Columns needed to check a customer token: of the token, of its customer, and of the API key or admin that issued it. */
export interface TokenHolderRow {
  readonly id: string;
  readonly customer_id: string;
  readonly scopes: readonly CustomerScope[];
  readonly expires_at: Date;
  /** Id of the API key or admin that issued the token; `open` if the caller had no credential (`AUTH=open`). */
  readonly created_by: string;
  readonly customer_deleted_at: Date | null;
  /**
   * This and the next three columns: state of the API key that issued the token. All four are null if no API key issued
   * the token.
   */
  readonly issuer_revoked_at: Date | null;
  readonly issuer_expires_at: Date | null;
  readonly issuer_scopes: readonly GrantedScope[] | null;
  readonly issuer_requests_per_minute: number | null;
  /** Role of the admin who issued the token; null if no admin issued the token. */
  readonly admin_role: AdminRole | null;
  /**
   * Time when the admin who issued the token was deactivated. Null if the admin is active, or if no admin issued the
   * token.
   */
  readonly admin_inactive_since: Date | null;
  /** True if the issuer signed in with a password, and must now enrol a second factor. */
  readonly admin_must_enrol: boolean;
}

const FIND_HOLDER = `
  SELECT token.id, token.customer_id, token.scopes, token.expires_at, token.created_by,
    customer.deleted_at AS customer_deleted_at, issuer.revoked_at AS issuer_revoked_at,
    issuer.expires_at AS issuer_expires_at, issuer.scopes AS issuer_scopes,
    issuer.requests_per_minute AS issuer_requests_per_minute, admin.role AS admin_role,
    CASE WHEN NOT admin.is_active THEN admin.sessions_valid_from END AS admin_inactive_since,
    token.issuer_used_password
      AND EXISTS (SELECT FROM studio_settings WHERE second_factor_required)
      AND NOT EXISTS (
        SELECT FROM admin_second_factor
        WHERE admin_id = token.created_by AND enabled_at IS NOT NULL) AS admin_must_enrol
  FROM customer_token AS token JOIN customer ON customer.id = token.customer_id
    LEFT JOIN api_key AS issuer ON issuer.id = token.created_by
    LEFT JOIN studio_admin AS admin ON admin.id = token.created_by
  WHERE token.hash = $1`;

const REMOVE_EXPIRED = `
  DELETE FROM customer_token WHERE id IN (
    SELECT id FROM customer_token WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING id`;

@Injectable()
export class CustomerTokensRepository {
  constructor(private readonly database: Database) {}

  async insert(token: CustomerToken, hash: string): Promise<void> {
    await this.database.insert(CustomerTokenEntity, { ...token, hash });
  }

  /** Deletes and returns a token of the customer; returns null if the customer has no token with this id. */
  async delete(id: string, customerId: string): Promise<CustomerToken | null> {
    const token = await this.database.selectOne(
      CustomerTokenEntity,
      'WHERE id = $1 AND customer_id = $2 FOR UPDATE',
      [id, customerId],
    );
    if (token !== null) await this.database.query('DELETE FROM customer_token WHERE id = $1', [id]);
    return token;
  }

  /** Returns the token with this hash, together with its customer and issuer; null if there is no such token. */
  async findHolder(hash: string): Promise<TokenHolderRow | null> {
    const [row] = await this.database.queryPrepared<TokenHolderRow>(
      'find_customer_token',
      FIND_HOLDER,
      [hash],
    );
    return row ?? null;
  }

  async removeExpired(now: Date, limit: number): Promise<number> {
    return (await this.database.query(REMOVE_EXPIRED, [now, limit])).length;
  }
}
