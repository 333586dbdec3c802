import { BoundedMap } from '../../platform/caching';
import {
  afterWrite,
  type SharedBalance,
  type SharedTarget,
  type ConsumptionWrite,
} from './shared-consumptions.repository';

/**
 * Maximum memory of all remembered balances, in bytes. It holds about 19,000 balances with one source each. A maximum
 * number of balances would not bound the memory, because a balance with 100 grants takes seven times as much.
 */
const MAX_BYTES = 50_000_000;
/** Bytes of a balance without its sources, then of each source. Measured on Node 20. */
const BYTES_OF_BALANCE = 2_500;
const BYTES_OF_SOURCE = 170;

export interface WrittenBalance {
  readonly target: SharedTarget;
  readonly balance: SharedBalance;
  /**
   * False after {@link WrittenBalances.suspend}, or if another transaction changed the balance between the last two
   * writes by this process.
   */
  readonly isOwn: boolean;
}

/**
 * Remembers balances as this process last wrote them. An outdated entry is harmless, because the statement that uses it
 * compares the versions with those of the locked rows, and skips the balance. To avoid such useless statements, an
 * entry is not used if other transactions also change its balance. All entries must be forgotten when this process
 * loses its database session (`ProcessSession`), because a standby that becomes the primary may lack the last commits.
 */
export class WrittenBalances {
  /** Maps the name of a balance to its entry. The entry whose last write is the oldest comes first. */
  private readonly entries = new BoundedMap<string, WrittenBalance>(MAX_BYTES, bytesOf);

  /** Returns the remembered balance if it is valid at `now`, and if no change by another transaction was noticed. */
  findOwn(name: string, now: Date): WrittenBalance | undefined {
    const entry = this.entries.get(name);
    return entry?.isOwn === true && isCurrent(entry.balance, now) ? entry : undefined;
  }

  /** Remembers a balance as it is after a write. To be called after the commit. */
  recordWrite(name: string, target: SharedTarget, write: ConsumptionWrite): void {
    const former = this.entries.get(name)?.balance;
    const isOwn = former === undefined || isSame(former, write.balance);
    this.entries.delete(name);
    this.entries.set(name, { target, balance: afterWrite(write), isOwn });
  }

  /**
   * Stops using the remembered state of a balance, because another transaction changed or locked the balance. The state
   * is used again once this process has written the balance, and no other transaction changed the balance since the
   * write before.
   */
  suspend(name: string): void {
    const entry = this.entries.get(name);
    if (entry !== undefined) this.entries.set(name, { ...entry, isOwn: false });
  }

  forget(name: string): void {
    this.entries.delete(name);
  }

  forgetAll(): void {
    this.entries.clear();
  }
}

function bytesOf({ balance }: WrittenBalance): number {
  return BYTES_OF_BALANCE + balance.record.row.sources.length * BYTES_OF_SOURCE;
}

/**
 * Returns true if the remembered state still holds at `now`. The balance must be valid, and no usage window of its
 * stream may have begun or ended since the read. Returns false if `now` is before the read, because the clock was set
 * back.
 */
function isCurrent({ record: { row }, stream, readAt }: SharedBalance, now: Date): boolean {
  const ends = [row.validUntil, stream?.changesAt ?? null];
  return readAt <= now && ends.every((end) => end === null || now < end);
}

function isSame(one: SharedBalance, other: SharedBalance): boolean {
  return (
    one.record.row.id === other.record.row.id &&
    one.record.row.version === other.record.row.version &&
    one.entitlementVersion === other.entitlementVersion &&
    one.stream?.id === other.stream?.id &&
    one.stream?.version === other.stream?.version &&
    one.stream?.lastPosition === other.stream?.lastPosition
  );
}
