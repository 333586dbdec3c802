import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Clock } from '../clock';
import { OutcomeUnknownError } from '../database';
import { widerNetwork } from './address';
import { type BucketCount, RateLimitRepository } from './rate-limit.repository';

const WINDOW_MS = 60_000;
const SHARE_EVERY_MS = 1_000;
/** Maximum number of keys, admins and tokens that are counted separately in a minute. All others share one count. */
const MAX_HOLDERS = 50_000;
/** Maximum number of addresses that are counted separately in a minute. */
const MAX_ADDRESSES = 25_000;
/** From this number of addresses on, new IPv6 addresses are counted by /48, because one host can have a whole /48. */
const MAX_NETWORKS = MAX_ADDRESSES / 2;
/**
 * Number of addresses from which on new /48 networks are counted together. The remaining places are left to IPv4
 * addresses, of which one host has few.
 */
const MAX_SITES = (MAX_ADDRESSES * 3) / 4;
/** Name of a bucket that counts by address. The kind says if it counts usage requests or other requests. */
const BY_ADDRESS = /^(?<kind>(?:usage-)?address:)(?<address>.*)$/;

export interface LimitStatus {
  readonly isExceeded: boolean;
  readonly remaining: number;
  /** Whole seconds until the next minute begins, at least 1. */
  readonly resetSeconds: number;
}

interface Bucket {
  /** Number of requests that all processes together had counted at the last exchange. */
  shared: number;
  /** Number of requests that this process has counted, but not sent to the database yet. */
  unshared: number;
}

/**
 * Counts requests by minute in memory, and exchanges the counts with other processes every second. No request therefore
 * waits for the database. Between two exchanges, a process does not see the new requests of other processes, so a limit
 * can be exceeded by what they admit in one second. While the database does not answer, each process counts alone.
 */
@Injectable()
export class RateLimits
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger('rate-limits');
  private buckets = new Map<string, Bucket>();
  /** Number of buckets that count by address. */
  private addressCount = 0;
  private windowStartMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private sharing: Promise<void> | undefined;

  constructor(
    private readonly repository: RateLimitRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      void this.share();
    }, SHARE_EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /**
   * Waits for a running exchange of counts. It waits in this hook, because waiting in `onModuleDestroy` would delay the
   * same hook of other modules, which would go on claiming work.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.sharing;
  }

  /**
   * Counts a request, and returns how many requests its caller has left. A refused request is not counted.
   * @param name what is counted, as `default:<id>`, `usage:<id>`, `address:<address>` or `usage-address:<address>`
   */
  take(name: string, perMinute: number): LimitStatus {
    const nowMs = this.clock.now().getTime();
    const windowStartMs = Math.floor(nowMs / WINDOW_MS) * WINDOW_MS;
    if (windowStartMs !== this.windowStartMs) {
      this.windowStartMs = windowStartMs;
      this.buckets = new Map();
      this.addressCount = 0;
    }
    const bucket = this.bucketOf(name);
    const used = bucket.shared + bucket.unshared;
    const isExceeded = used >= perMinute;
    if (!isExceeded) bucket.unshared += 1;
    return {
      isExceeded,
      remaining: Math.max(0, perMinute - used - 1),
      resetSeconds: Math.max(1, Math.ceil((windowStartMs + WINDOW_MS - nowMs) / 1_000)),
    };
  }

  /** Exchanges counts with other processes. Waits for an exchange that is running, so that no count is sent twice. */
  share(): Promise<void> {
    this.sharing ??= this.exchange().finally(() => {
      this.sharing = undefined;
    });
    return this.sharing;
  }

  private async exchange(): Promise<void> {
    const { buckets, windowStartMs } = this;
    const counts = [...buckets]
      .filter(([, { unshared }]) => unshared > 0)
      .map(([bucket, { unshared }]) => ({ bucket, count: unshared }));
    if (counts.length === 0) return;
    try {
      const totals = await this.addCounts(new Date(windowStartMs), counts);
      for (const { bucket, count } of totals) {
        const known = buckets.get(bucket);
        if (known !== undefined) known.shared = Math.max(known.shared, count);
      }
      await this.repository.deleteBefore(new Date(windowStartMs));
    } catch (error) {
      this.logger.warn({ err: error }, 'request counts were not shared; each process counts alone');
    }
  }

  /**
   * Writes counts, and returns the totals of all processes. If the outcome is unknown, the counts are not sent again,
   * because a request that is counted twice could be refused too early.
   */
  private async addCounts(
    windowStart: Date,
    counts: readonly BucketCount[],
  ): Promise<readonly BucketCount[]> {
    const { buckets } = this;
    const markSent = (): void => {
      for (const { bucket, count } of counts) {
        const known = buckets.get(bucket);
        if (known === undefined) continue;
        known.unshared -= count;
        known.shared += count;
      }
    };
    try {
      const totals = await this.repository.add(windowStart, counts);
      markSent();
      return totals;
    } catch (error) {
      if (error instanceof OutcomeUnknownError) markSent();
      throw error;
    }
  }

  private bucketOf(name: string): Bucket {
    const known = this.buckets.get(name);
    if (known !== undefined) return known;
    const { isAddress, maxBuckets, wider } = placeOf(name);
    const count = isAddress ? this.addressCount : this.buckets.size - this.addressCount;
    if (wider !== null && count >= maxBuckets) return this.bucketOf(wider);
    const made: Bucket = { shared: 0, unshared: 0 };
    this.buckets.set(name, made);
    if (isAddress) this.addressCount += 1;
    return made;
  }
}

interface Place {
  readonly isAddress: boolean;
  /**
   * Maximum number of buckets of this kind: of addresses, or of holders of a credential. Above it, a new caller is
   * counted in the bucket `wider`.
   */
  readonly maxBuckets: number;
  /** Bucket that several callers share. Null: there is no shared bucket, and no limit on the number of buckets. */
  readonly wider: string | null;
}

function placeOf(name: string): Place {
  if (name.startsWith('others')) return { isAddress: false, maxBuckets: Infinity, wider: null };
  const { kind, address } = BY_ADDRESS.exec(name)?.groups ?? {};
  if (kind === undefined || address === undefined) {
    return { isAddress: false, maxBuckets: MAX_HOLDERS, wider: 'others' };
  }
  const others = `others:${kind}`;
  if (address.endsWith('/48'))
    return { isAddress: true, maxBuckets: MAX_SITES, wider: `${others}ipv6` };
  const site = widerNetwork(address);
  if (site === null) return { isAddress: true, maxBuckets: MAX_ADDRESSES, wider: `${others}ipv4` };
  return { isAddress: true, maxBuckets: MAX_NETWORKS, wider: `${kind}${site}` };
}
