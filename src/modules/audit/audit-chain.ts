import { Injectable } from '@nestjs/common';
import { Database, nullIfUnreadable } from '../../platform/database';
import { DamagedReads } from '../../platform/observability';
import {
  CHAIN_START,
  type ChainEnd,
  type SealedChanges,
  faultOf,
  type Seal,
  type SealFault,
} from './seal';
import { SealsRepository } from './seals.repository';

const SEALS_PER_READ = 100;

/** A number that no seal (checksum over a group of audit log changes) ever reaches. */
const NO_SUCH_NUMBER = 2n ** 40n;

export interface CheckedSeal {
  readonly number: bigint;
  /** The seal; null if the stored row is damaged, so that the database fails to read it. */
  readonly seal: Seal | null;
  /** Reason why the seal (checksum) does not match its changes; null if it matches. */
  readonly fault: SealFault | null;
}

/**
 * Range of changes that one seal (checksum) can cover: the position at which the range ends, and the content of the
 * range.
 */
interface SealableChanges {
  readonly to: bigint;
  /** Content of the range; null if all rows of the changes are damaged, so that the database fails to read them. */
  readonly content: SealedChanges | null;
}

/**
 * Reads seals (chained checksums over groups of audit log changes) and the changes that they cover. Can handle rows
 * that the database cannot read.
 */
@Injectable()
export class AuditChain {
  constructor(
    private readonly database: Database,
    private readonly seals: SealsRepository,
    private readonly damagedReads: DamagedReads,
  ) {}

  /**
   * Yields the seals (checksums) after `start` in sequence, with the fault of each seal. Also yields unreadable seals.
   */
  async *checkSealsAfter(start: ChainEnd): AsyncGenerator<CheckedSeal> {
    let end = start;
    for (;;) {
      const batch = await this.readSealsAfter(end.number);
      if (batch.length === 0) return;
      for (const seal of batch) {
        if (seal === null) {
          end = { ...end, number: end.number + 1n };
          yield { number: end.number, seal, fault: 'seal_unreadable' };
          continue;
        }
        const content = await this.readChanges(seal.from, seal.to);
        yield { number: seal.number, seal, fault: faultOf(seal, end, content) };
        end = seal;
      }
    }
  }

  /**
   * Returns the seal (checksum) with this number, or the start of the chain if there is no such seal. For an unreadable
   * seal, returns an invalid position and hash. The seal after it then gets the fault `chain_broken`.
   */
  async readEndAt(number: bigint): Promise<ChainEnd> {
    const found = await this.readOrNull(
      async () => (await this.seals.findByNumber(number)) ?? CHAIN_START,
    );
    return found ?? { number, to: -1n, hash: '' };
  }

  /**
   * Returns the end of the chain of seals (checksums), which the next seal continues. If the last seals are unreadable,
   * returns the number of the last seal, with position and hash of the last readable seal. The next seal then also
   * covers the changes of the unreadable seals.
   */
  async readEnd(): Promise<ChainEnd> {
    const last = await this.readOrNull(async () => (await this.seals.findLast()) ?? CHAIN_START);
    if (last !== null) return last;
    const number = await this.lastNumber();
    const unreadable: string[] = [];
    for (let before = number; ; before -= 1n) {
      const end = await this.readOrNull(
        async () => (await this.seals.findByNumber(before)) ?? CHAIN_START,
      );
      if (end?.number === before) {
        this.damagedReads.report('audit_seal', unreadable);
        return { ...end, number };
      }
      unreadable.push(before.toString());
    }
  }

  /**
   * Returns the longest range of readable changes that begins after the position `from` and ends at or before `to`. If
   * the first change is unreadable, returns only the unreadable changes at the beginning. A seal over readable and
   * unreadable changes would protect no content.
   */
  async longestSealableRange(from: bigint, to: bigint): Promise<SealableChanges> {
    const whole = await this.readChanges(from, to);
    if (whole !== null) return { to, content: whole };
    let readable: SealableChanges = { to: from, content: null };
    for (let unreadable = to; unreadable - readable.to > 1n;) {
      const middle = (readable.to + unreadable) / 2n;
      const content = await this.readChanges(from, middle);
      if (content === null) unreadable = middle;
      else readable = { to: middle, content };
    }
    if (readable.content !== null) return readable;
    let end = from + 1n;
    while (end < to && (await this.readChanges(end, end + 1n)) === null) end += 1n;
    return { to: end, content: null };
  }

  /**
   * Returns up to {@link SEALS_PER_READ} seals (checksums) after the seal `number`. If the database cannot read one of
   * these seals, returns only the first seal, or `[null]` if the first seal is unreadable.
   */
  private async readSealsAfter(number: bigint): Promise<readonly (Seal | null)[]> {
    const batch = await nullIfUnreadable(this.database, () =>
      this.seals.findAfter(number, SEALS_PER_READ),
    );
    return batch ?? (await this.readOrNull(() => this.seals.findAfter(number, 1))) ?? [null];
  }

  private readChanges(from: bigint, to: bigint): Promise<SealedChanges | null> {
    return this.readOrNull(() => this.seals.hashChanges(from, to));
  }

  /** Finds the number of the last seal (checksum) by bisection. Needed if that seal itself cannot be read. */
  private async lastNumber(): Promise<bigint> {
    let [some, none] = [0n, NO_SUCH_NUMBER];
    while (none - some > 1n) {
      const middle = (some + none) / 2n;
      const next = await this.readOrNull(() => this.seals.findAfter(middle, 1));
      if (next?.length === 0) none = middle;
      else some = middle;
    }
    return none;
  }

  /**
   * Returns the result of `reads`, or null if the database cannot read a row that is needed. After a failure, tries
   * again with indexes only. A scan of the table also reads rows that are not needed, and the damaged row may be one of
   * these rows.
   */
  private async readOrNull<Result>(reads: () => Promise<Result>): Promise<Result | null> {
    const result = await nullIfUnreadable(this.database, reads);
    if (result !== null) return result;
    return nullIfUnreadable(this.database, async () => {
      await this.seals.readByIndexes();
      return reads();
    });
  }
}
