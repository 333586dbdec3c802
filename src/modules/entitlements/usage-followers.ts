import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { type MovedWindow, UsageWatchers } from '../metering';
import { TestClocksService } from '../test-clocks';
import { HoldingWindowsRepository } from './holding-windows.repository';
import { type MovedHolding, ReachedService } from './reached.service';
import { SettleHoldingService } from './settle-holding.service';

/** Keeps what customers used in step with what meters count, in the commit of each event. */
@Injectable()
export class UsageFollowers implements OnModuleInit {
  constructor(
    private readonly usage: UsageWatchers,
    private readonly windows: HoldingWindowsRepository,
    private readonly settling: SettleHoldingService,
    private readonly reached: ReachedService,
    private readonly testClocks: TestClocksService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.usage.register((windows) => this.follow(windows));
  }

  /** The streams of the windows are held, so that nobody else moves the same rows. */
  private async follow(moves: readonly MovedWindow[]): Promise<void> {
    const times = new Map<string, Date>();
    const moved: MovedHolding[] = [];
    for (const { held, isFresh, used } of await this.windows.lockCounting(moves)) {
      const { testClockId } = held.row;
      const now = times.get(testClockId ?? '') ?? (await this.nowOf(testClockId));
      times.set(testClockId ?? '', now);
      if (isFresh) {
        moved.push({ held, used, now });
        continue;
      }
      // What is allowed has changed since: it is resolved first, which reads what is used.
      const holder = { id: held.row.customerId, testClockId };
      const settled = await this.settling.settle(holder, held.entitlement, now);
      moved.push({ held: settled, used: settled.row.used, now });
    }
    await this.reached.move(moved);
  }

  private async nowOf(testClockId: string | null): Promise<Date> {
    return testClockId === null
      ? this.clock.now()
      : (await this.testClocks.get(testClockId)).instant;
  }
}
