import type { Request, RequestHandler } from 'express';
import { type Principal, principalOf } from '../access';
import { type ProblemError, serviceUnavailable } from '../errors';

/**
 * Maximum size of a small body. Small bodies have a memory budget of their own, so that large bodies do not block them.
 */
const SMALL_BYTES = 65_536;
const SMALL_BUDGET_BYTES = 32 * 2 ** 20;
const LARGE_BUDGET_BYTES = 128 * 2 ** 20;
/**
 * Size of the budget for small bodies, and of the budget for large bodies, of callers without a credential. These
 * callers cannot use up the budgets of other callers.
 */
const ANONYMOUS_BUDGET_BYTES = 16 * 2 ** 20;
/**
 * Largest share of a budget that one API key, admin or customer token can use. The other half is left for other
 * callers.
 */
const MAX_SHARE = 0.5;

class Budget {
  private used = 0;
  private readonly usedByCaller = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  /**
   * Takes bytes from the budget. If the budget or the share of the caller has too few bytes left, takes nothing and
   * returns false.
   * @param caller id of the caller whose share is limited; null: the share is not limited
   */
  take(bytes: number, caller: string | null): boolean {
    if (this.used + bytes > this.maxBytes) return false;
    if (caller !== null) {
      const own = (this.usedByCaller.get(caller) ?? 0) + bytes;
      if (own > this.maxBytes * MAX_SHARE) return false;
      this.usedByCaller.set(caller, own);
    }
    this.used += bytes;
    return true;
  }

  release(bytes: number, caller: string | null): void {
    this.used -= bytes;
    if (caller === null) return;
    const own = (this.usedByCaller.get(caller) ?? 0) - bytes;
    if (own > 0) this.usedByCaller.set(caller, own);
    else this.usedByCaller.delete(caller);
  }
}

interface Budgets {
  readonly small: Budget;
  readonly large: Budget;
}

export class BodyMemory {
  private bytes = 0;
  private budget: Budget;
  private isReleased = false;

  constructor(
    private readonly budgets: Budgets,
    private readonly caller: string | null,
  ) {
    this.budget = budgets.small;
  }

  /**
   * Reserves memory for the body, so that at least `bytes` are reserved in all. Reserves nothing, and returns false, if
   * too little is left in the budget, or in the share of the caller.
   */
  growTo(bytes: number): boolean {
    if (this.isReleased) return false;
    if (bytes <= this.bytes) return true;
    const budget = bytes <= SMALL_BYTES ? this.budgets.small : this.budgets.large;
    const held = budget === this.budget ? this.bytes : 0;
    if (!budget.take(bytes - held, this.caller)) return false;
    if (budget !== this.budget) this.budget.release(this.bytes, this.caller);
    this.budget = budget;
    this.bytes = bytes;
    return true;
  }

  release(): void {
    this.budget.release(this.bytes, this.caller);
    this.isReleased = true;
  }
}

const MEMORY = Symbol('body memory');

/** Returns the memory reserved for the body of a request that has passed {@link limitBodiesInFlight}. */
export function bodyMemoryOf(request: Request): BodyMemory {
  const { [MEMORY]: memory } = request as Request & { readonly [MEMORY]?: BodyMemory };
  if (memory === undefined) throw new Error('The request has not passed limitBodiesInFlight.');
  return memory;
}

export function bodyMemoryExhausted(): ProblemError {
  return serviceUnavailable('Too many bytes of request bodies are in flight. Nothing was stored.');
}

/**
 * Refuses a request with 503 and `Retry-After`, without reading its body, if the budget has too little memory left for
 * the body. The body uses the budget from the arrival of the headers until the request has been answered.
 * @param sizeOf returns the bytes to take in advance; 0 if the code that reads the body takes memory while it reads
 */
export function limitBodiesInFlight(sizeOf: (request: Request) => number): RequestHandler {
  const known = { small: new Budget(SMALL_BUDGET_BYTES), large: new Budget(LARGE_BUDGET_BYTES) };
  const anonymous = {
    small: new Budget(ANONYMOUS_BUDGET_BYTES),
    large: new Budget(ANONYMOUS_BUDGET_BYTES),
  };
  return (request, response, next) => {
    // The client has disconnected. `close` was emitted already, so a listener added now would not release the bytes.
    if (response.destroyed) return;
    const principal = principalOf(request);
    const memory = new BodyMemory(
      principal.kind === 'anonymous' ? anonymous : known,
      sharingCaller(principal),
    );
    if (!memory.growTo(sizeOf(request))) {
      next(bodyMemoryExhausted());
      return;
    }
    Object.assign(request, { [MEMORY]: memory });
    response.once('close', () => {
      memory.release();
    });
    next();
  };
}

/** Returns the id of the caller to whom {@link MAX_SHARE} applies; null for a caller without an id of its own. */
export function sharingCaller({ kind, id }: Principal): string | null {
  return kind === 'anonymous' || kind === 'open' ? null : id;
}
