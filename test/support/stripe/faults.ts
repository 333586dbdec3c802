import { type OperationName } from './parameters';

/**
 * A fault of one request. `before` means without effect, `after` with the effect done and its answer stored. If a
 * request hangs before its effect, the effect takes place when the request is released, even if its client has gone by
 * then.
 */
export type Fault =
  | 'reset_before'
  | 'reset_after'
  | 'hang_before'
  | 'hang_after'
  /** Takes effect at once. The answer is sent when it is released. */
  | 'answer_held'
  | 'error_500_before'
  | 'error_500_after'
  | 'rate_limited'
  | 'lock_timeout'
  | 'conflict'
  /** A proxy, or a wrong base URL, answers 404. */
  | 'not_found';

interface Planned {
  readonly fault: Fault;
  readonly operation: OperationName | undefined;
  skip: number;
  times: number;
}

/** Faults of requests: planned ones by operation and count, then those that `decide` chooses. */
export class Faults {
  /** Chooses a fault where none is planned, for random campaigns. */
  decide: (operation: OperationName) => Fault | null = () => null;
  private planned: Planned[] = [];
  private waiting: (() => void)[] = [];

  /** Plans a fault for the next `times` requests of an operation (of any, by default), after the first `skip` ones. */
  plan(
    fault: Fault,
    {
      operation,
      skip = 0,
      times = 1,
    }: { operation?: OperationName; skip?: number; times?: number } = {},
  ): void {
    this.planned.push({ fault, operation, skip, times });
  }

  take(operation: OperationName): Fault | null {
    const applying = this.planned.filter((each) => (each.operation ?? operation) === operation);
    const ready = applying.find(({ skip }) => skip === 0);
    for (const each of applying) each.skip = Math.max(0, each.skip - 1);
    if (!ready) return this.decide(operation);
    ready.times -= 1;
    this.planned = this.planned.filter(({ times }) => times > 0);
    return ready.fault;
  }

  /** Number of requests that wait to be released: those that hang before their effect, and those whose answer is held. */
  get hanging(): number {
    return this.waiting.length;
  }

  hang(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Lets the requests go on that hang before their effect, or whose answer is held. */
  release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  /** Forgets planned faults and `decide`. */
  clear(): void {
    this.planned = [];
    this.decide = () => null;
  }
}
