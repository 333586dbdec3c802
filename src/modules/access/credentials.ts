import { Injectable, Logger } from '@nestjs/common';
import { scopesOfAdmin } from '../../core/access';
import {
  faultOfChosenSecret,
  hashOf,
  type Principal,
  principalWith,
  type VerifyCredential,
} from '../../platform/access';
import { BoundedMap } from '../../platform/caching';
import { Clock } from '../../platform/clock';
import { unauthenticated } from '../../platform/errors';
import { ClockCheck } from '../../platform/processes';
import { ApiKeysRepository, type KeyHolderRow } from './api-keys.repository';
import { CustomerTokensRepository, type TokenHolderRow } from './customer-tokens.repository';

/**
 * Time for which a credential read from the database is cached. Every process notices a revocation within this time.
 * Processes do not notify each other of revocations, because a notification could get lost.
 */
const CACHE_MS = 750;
const MAX_CACHED = 10_000;
const TOKEN_PREFIX = 'ct_';
const ADMIN_PREFIX = 'admin_';
const TOUCH_MS = 60_000;

interface Holder {
  readonly principal: Principal;
  readonly revokedAt: Date | null;
  readonly expiresAtMs: number;
  readonly freshUntil: number;
}

interface Load {
  readonly holder: Promise<Holder>;
  readonly freshUntil: number;
}

/** Verifies API keys and customer tokens. Caches each of them for {@link CACHE_MS}. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger('credentials');
  /** Cached API keys and customer tokens, by the SHA-256 of the secret. */
  private readonly cache = new BoundedMap<string, Holder>(MAX_CACHED);
  /** Running reads of credentials, by the SHA-256 of the secret. */
  private readonly loading = new Map<string, Load>();
  /** Time of the last use that this process recorded, in milliseconds since 1970, by id of the API key. */
  private readonly touchedAt = new BoundedMap<string, number>(MAX_CACHED);

  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly tokens: CustomerTokensRepository,
    private readonly clock: Clock,
    private readonly clockCheck: ClockCheck,
  ) {}

  /**
   * @throws {ProblemError} `unauthenticated`; `service_unavailable` if the clock is wrong and the credential has
   *   expired by it
   */
  readonly verify: VerifyCredential = (credential) => {
    const hash = hashOf(credential);
    const cached = this.cache.get(hash);
    if (cached !== undefined && performance.now() < cached.freshUntil) return this.admit(cached);
    if (faultOfChosenSecret(credential) !== null) throw unauthenticated('malformed');
    return this.load(hash, credential.startsWith(TOKEN_PREFIX));
  };

  /** Clears the cache of this process. The caches of other processes expire within {@link CACHE_MS}. */
  forgetAll(): void {
    this.cache.clear();
    this.loading.clear();
  }

  /**
   * Returns the caller of a credential that is not cached. If the credential is already being read, waits for that
   * read. A read that is older than a cached credential may be is not used.
   */
  private async load(hash: string, isToken: boolean): Promise<Principal> {
    const nowMs = performance.now();
    let load = this.loading.get(hash);
    if (load === undefined || nowMs >= load.freshUntil) {
      const freshUntil = nowMs + CACHE_MS;
      load = { holder: this.read(hash, isToken, freshUntil), freshUntil };
      this.loading.set(hash, load);
    }
    try {
      const holder = await load.holder;
      if (this.loading.get(hash) === load) this.cache.set(hash, holder);
      return this.admit(holder);
    } finally {
      if (this.loading.get(hash) === load) this.loading.delete(hash);
    }
  }

  private async read(hash: string, isToken: boolean, freshUntil: number): Promise<Holder> {
    const holder = isToken
      ? tokenHolder(await this.tokens.findHolder(hash), freshUntil)
      : keyHolder(await this.keys.findHolder(hash), freshUntil);
    if (holder === null) throw unauthenticated('unknown');
    return holder;
  }

  private admit({ principal, revokedAt, expiresAtMs }: Holder): Principal {
    if (revokedAt !== null) throw unauthenticated('revoked');
    const now = this.clock.now();
    const nowMs = now.getTime();
    if (expiresAtMs <= nowMs) {
      this.clockCheck.requireRight();
      throw unauthenticated('expired');
    }
    if (
      principal.kind === 'key' &&
      nowMs - (this.touchedAt.get(principal.id) ?? -Infinity) >= TOUCH_MS &&
      this.clockCheck.isRight
    ) {
      this.touchedAt.set(principal.id, nowMs);
      void this.touch(principal.id, now);
    }
    return principal;
  }

  /** Records the use of a key. Requests do not wait for this write, so an error is only logged. */
  private async touch(id: string, now: Date): Promise<void> {
    try {
      await this.keys.touch(id, now);
    } catch (error) {
      this.logger.warn({ err: error, api_key: id }, 'the use of an API key was not recorded');
    }
  }
}

function keyHolder(row: KeyHolderRow | null, freshUntil: number): Holder | null {
  if (row === null) return null;
  const ends = [row.expires_at, row.previous_expires_at].flatMap((at) => at?.getTime() ?? []);
  return {
    principal: {
      ...principalWith('key', row.id, row.scopes),
      requestLimits: {
        perMinute: row.requests_per_minute,
        usagePerMinute: row.usage_requests_per_minute,
      },
    },
    revokedAt: row.revoked_at,
    expiresAtMs: Math.min(...ends, Infinity),
    freshUntil,
  };
}

/**
 * Returns the rights that a customer token gives; null if the token is unknown. The token gives only scopes that its
 * issuer still has. It stops working in these cases:
 * - Its customer is deleted.
 * - The API key that issued it expires or is revoked.
 * - The admin who issued it becomes inactive.
 */
function tokenHolder(row: TokenHolderRow | null, freshUntil: number): Holder | null {
  if (row === null) return null;
  const ends = [row.expires_at, row.issuer_expires_at].flatMap((at) => at?.getTime() ?? []);
  const { admin_role: role } = row;
  const held = new Set(
    role === null ? row.issuer_scopes : scopesOfAdmin(role, row.admin_must_enrol),
  );
  // An issuer without a credential (`AUTH=open`) has no scopes to lose.
  const isFree = !row.created_by.startsWith(ADMIN_PREFIX) && row.issuer_scopes === null;
  const scopes = row.scopes.filter((scope) => isFree || held.has('*') || held.has(scope));
  return {
    principal: {
      ...principalWith('customer_token', row.id, scopes, row.customer_id),
      requestLimits: { perMinute: row.issuer_requests_per_minute, usagePerMinute: null },
    },
    revokedAt: row.customer_deleted_at ?? row.issuer_revoked_at ?? row.admin_inactive_since,
    expiresAtMs: Math.min(...ends),
    freshUntil,
  };
}
