import { BoundedMap } from '../../platform/caching';
import {
  afterWrite,
  type SharedBalance,
  type SharedTarget,
  type ConsumptionWrite,
} from './shared-consumptions.repository';

/**
 * Maximum memory of all written balances, in bytes: about 19,000 balances with one source each. A maximum number of
 * balances would not bound the memory, because a balance with 100 grants takes seven times as much.
 */
const MAX_BYTES = 50_000_000;
/** Memory of a balance, and of each of its sources, in bytes, measured on Node 20. */
const BYTES_OF_BALANCE = 2_500;
const BYTES_OF_SOURCE = 170;

/** A balance as this process wrote it last. */
export interface WrittenBalance {
  readonly target: SharedTarget;
  readonly balance: SharedBalance;
  /** False after {@link WrittenBalances.suspend}, or if another process changed the balance before the last write. */
  readonly isOwn: boolean;
}

/**
 * Cache of balances as this process wrote them last. An outdated entry is harmless: the statement that uses it compares
 * the versions with the locked rows, and skips the balance. To avoid such statements, entries of balances that other
 * processes also change are not used. All entries must be forgotten when this process loses its database session
 * (`ProcessSession`), because a standby that takes over may lack the last commits.
 */
export class WrittenBalances {
  /** Balances in the order of their last write. */
  private readonly entries = new BoundedMap<string, WrittenBalance>(MAX_BYTES, bytesOf);

  /** Returns the balance if it is valid at `now` and no change by another process was noticed. */
  findOwn(name: string, now: Date): WrittenBalance | undefined {
    const entry = this.entries.get(name);
    return entry?.isOwn === true && isCurrent(entry.balance, now) ? entry : undefined;
  }

  /** Remembers a balance after the commit that wrote it. */
  recordWrite(name: string, target: SharedTarget, write: ConsumptionWrite): void {
    const former = this.entries.get(name)?.balance;
    const isOwn = former === undefined || isSame(former, write.balance);
    this.entries.delete(name);
    this.entries.set(name, { target, balance: afterWrite(write), isOwn });
  }

  /**
   * Stops the use of the cached state of a balance that another process changed or locked. It is used again after two
   * writes by this process without a change by another process between them.
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
 * Returns false if at `now` the balance is no longer valid, or a usage window of its stream has begun or ended. Also
 * returns false if `now` is before the time of the read, because the machine's clock may have gone back.
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
