import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Configuration } from '../config';

/** Work that falls due as rows in the database; any number of workers may look for it. */
export interface DueWork {
  /** kebab-case, unique */
  readonly name: string;
  /** How long to wait before looking again when nothing was due. */
  readonly idleMs: number;
  /**
   * Claims some of what is due and does it. Returns whether there may be more right now. One piece that fails must not
   * keep the others from being done; what it throws is logged, and the work is looked for again.
   */
  readonly runDue: () => Promise<boolean>;
}

interface Loop {
  readonly work: DueWork;
  wake: () => void;
  /** A wake-up came while the loop was busy: look again before waiting. */
  pending: boolean;
  ended: Promise<void>;
}

/** Runs due work in the background where the process's role includes it. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('jobs');
  private readonly loops = new Map<string, Loop>();
  private running = false;

  constructor(private readonly configuration: Configuration) {}

  /** Adds work; called while the module that owns it starts. */
  register(work: DueWork): void {
    if (this.loops.has(work.name)) throw new Error(`The work ${work.name} is registered twice.`);
    this.loops.set(work.name, {
      work,
      wake: () => undefined,
      pending: false,
      ended: Promise.resolve(),
    });
  }

  onApplicationBootstrap(): void {
    if (!this.configuration.doesDueWork) return;
    this.running = true;
    for (const loop of this.loops.values()) loop.ended = this.run(loop);
  }

  /** Claims no more: the first hook of a shutdown, before anything is waited for. */
  onModuleDestroy(): void {
    this.running = false;
    for (const loop of this.loops.values()) loop.wake();
  }

  /** Waits for what is in flight. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.loops.values()].map(({ ended }) => ended));
  }

  /** Says that work of this name may have become due: look now rather than at the end of the wait. */
  wake(name: string): void {
    const loop = this.loops.get(name);
    if (loop === undefined) return;
    loop.pending = true;
    loop.wake();
  }

  private async run(loop: Loop): Promise<void> {
    while (this.running) {
      loop.pending = false;
      const more = await this.runOnce(loop.work);
      if (!more && this.mayRest(loop)) await pause(loop);
    }
  }

  /** Asked after the work: either may have changed while it ran. */
  private mayRest(loop: Loop): boolean {
    return this.running && !loop.pending;
  }

  private async runOnce(work: DueWork): Promise<boolean> {
    try {
      return await work.runDue();
    } catch (error) {
      this.logger.error({ err: error, work: work.name }, 'due work failed');
      return false;
    }
  }
}

function pause(loop: Loop): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, loop.work.idleMs);
    loop.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
