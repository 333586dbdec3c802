import { type Refusal } from './errors';
import { type OperationName } from './parameters';

/**
 * A fault of one request. `before`: the request has no effect. `after`: the request has its effect, and the response is
 * stored. A request that hangs before its effect has the effect when it is released, even if the client has
 * disconnected.
 */
export type Fault =
  | 'reset_before'
  | 'reset_after'
  | 'hang_before'
  | 'hang_after'
  /** The request has its effect at once. The response is sent when the request is released. */
  | 'answer_held'
  | 'error_500_before'
  | 'error_500_after'
  | 'rate_limited'
  | 'lock_timeout'
  | 'conflict'
  /** The response is 404, as from a proxy, or as for a wrong base URL. */
  | 'not_found'
  /** The request has no effect. The response is this refusal, which is stored. */
  | Refusal
  /** The request has its effect. The response is this text, as from a proxy. The right response is stored. */
  | { readonly status: number; readonly text: string };

interface Planned {
  readonly fault: Fault;
  readonly operation: OperationName | undefined;
  skip: number;
  times: number;
}

/** Faults of requests. Planned faults for the operation come first; if none is planned, `decide` chooses. */
export class Faults {
  /** Chooses a fault if none is planned. Used by random tests. */
  decide: (operation: OperationName) => Fault | null = () => null;
  private planned: Planned[] = [];
  private readonly waiting: (() => void)[] = [];

  /**
   * Plans a fault for the next `times` requests of an operation (default: of any). The first `skip` requests have no
   * fault.
   */
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

  /** Number of requests that wait to be released: they hang before their effect, or their response is held. */
  get hanging(): number {
    return this.waiting.length;
  }

  hang(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /**
   * Continues the requests that hang before their effect, or whose response is held.
   * @param count only this number of them, in the order of their arrival
   */
  release(count = this.waiting.length): void {
    for (const resume of this.waiting.splice(0, count)) resume();
  }

  /** Removes planned faults and `decide`. */
  clear(): void {
    this.planned = [];
    this.decide = () => null;
  }
}
