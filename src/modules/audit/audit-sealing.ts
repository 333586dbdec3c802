import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { DamagedReads, DatabaseGauges } from '../../platform/observability';
import { AuditChain } from './audit-chain';
import { sealAfter, UNREADABLE } from './seal';
import { SealsRepository } from './seals.repository';

const EVERY_MS = 10_000;
/**
 * Maximum number of positions per seal (checksum). The number is small, because verification cannot name a changed row,
 * only the seal that covers it.
 */
const POSITIONS_PER_SEAL = 1_000n;

/**
 * A position in the audit log, and a transaction number. Once all transactions with lower numbers have ended, no change
 * can be added up to this position. This holds only on the database server that gave the number. A standby that takes
 * over can lack the last commits, and then gives the same positions and numbers again.
 */
interface Mark {
  readonly position: bigint;
  readonly transaction: bigint;
  /** Start time of the server that gave the transaction number. */
  readonly server: string;
}

/**
 * Seals changes: stores a checksum over a group of changes once no open transaction can add a change to the group. A
 * transaction gets its number before its changes get positions, so a {@link Mark} shows which positions are final.
 * Writers never wait for a seal. A writing transaction that stays open delays sealing, even in another database of the
 * same server.
 */
@Injectable()
export class AuditSealing implements OnModuleInit {
  private mark: Mark | null = null;

  constructor(
    private readonly database: Database,
    private readonly seals: SealsRepository,
    private readonly chain: AuditChain,
    private readonly damagedReads: DamagedReads,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    gauges: DatabaseGauges,
  ) {
    gauges.register(
      [
        {
          name: 'audit_oldest_unsealed_seconds',
          help: 'Age of the oldest change in the audit log that has no seal yet; 0 if all changes are sealed.',
          labelNames: [],
        },
      ],
      async (oldest) => {
        const changedAt = await seals.findFirstUnsealedAt();
        const ageMs = changedAt === null ? 0 : this.clock.now().getTime() - changedAt.getTime();
        oldest.set(ageMs / 1_000);
      },
    );
  }

  onModuleInit(): void {
    this.jobs.register({
      name: 'audit-seals',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  /**
   * Seals one batch of changes, if no open transaction can still add a change to it. Returns true if another batch may
   * be ready.
   */
  async runDue(): Promise<boolean> {
    const outcome = this.mark === null ? 'done' : await this.sealUpTo(this.mark);
    if (outcome === 'done') this.mark = await this.readMark();
    return outcome === 'more';
  }

  /**
   * Reads the last position, then takes a transaction number. Each change up to the position therefore belongs to a
   * transaction with a lower number. Returns null if all positions are sealed, so that an idle service takes no
   * numbers. Uses one connection, so that position and number come from the same server.
   */
  private readMark(): Promise<Mark | null> {
    return this.database.transaction(async () => {
      const position = await this.seals.lastPosition();
      const { to } = await this.chain.readEnd();
      if (to >= position) return null;
      return { position, ...(await this.seals.takeTransactionNumber()) };
    });
  }

  /**
   * Seals the next batch of changes up to the position of a mark. Returns:
   * - `more`: changes up to the position are not sealed yet
   * - `waiting`: transactions before the mark are open
   * - `done`: another mark is needed, because all is sealed, the database was restored, or another server took over
   */
  private sealUpTo(mark: Mark): Promise<'more' | 'waiting' | 'done'> {
    return this.database.transaction(async () => {
      await this.seals.lockChain();
      const { position } = mark;
      const { oldest, next, server } = await this.seals.readTransactionNumbers();
      if (server !== mark.server || next < mark.transaction) return 'done';
      if ((await this.seals.lastPosition()) < position) return 'done';
      if (oldest < mark.transaction) return 'waiting';
      const end = await this.chain.readEnd();
      if (end.to >= position) return 'done';
      const batchEnd = end.to + POSITIONS_PER_SEAL;
      const { to, content } = await this.chain.longestSealableRange(
        end.to,
        batchEnd < position ? batchEnd : position,
      );
      if (content === null) this.damagedReads.report('audit_change', positionsIn(end.to, to));
      const createdAt = this.clock.now();
      await this.seals.insert(sealAfter(end, content ?? UNREADABLE, { to, createdAt }));
      return to < position ? 'more' : 'done';
    });
  }
}

/** Returns the positions in `(from, to]`. */
function positionsIn(from: bigint, to: bigint): string[] {
  return Array.from({ length: Number(to - from) }, (_, at) => String(from + 1n + BigInt(at)));
}
