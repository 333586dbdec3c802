import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { DiscardsRepository } from './discards.repository';

const EVERY_MS = 1_000;

/** Discards, in portions, the deliveries that were pending when their endpoint was deleted or answered 410. */
@Injectable()
export class DeliveryDiscards implements OnModuleInit {
  constructor(
    private readonly discards: DiscardsRepository,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'webhook-discards',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  /** Discards one portion. Returns true if there may be more. */
  runDue(): Promise<boolean> {
    return this.discards.continueNext(this.clock.now());
  }
}
