import type { Request, RequestHandler } from 'express';
import { type Principal, principalOf } from '../access';
import { type ProblemError, serviceUnavailable } from '../errors';

/** Largest size, in bytes, of a small body. Small bodies have their own budget, so large bodies do not block them. */
const SMALL_BYTES = 65_536;
const SMALL_BUDGET_BYTES = 32 * 2 ** 20;
const LARGE_BUDGET_BYTES = 128 * 2 ** 20;
/**
 * Callers without a credential have two budgets of this size, one for small and one for large bodies. They cannot use
 * up the budgets of other callers.
 */
const ANONYMOUS_BUDGET_BYTES = 16 * 2 ** 20;
/** Largest share of a budget that one key, admin or token can use. The rest is left for others. */
const MAX_SHARE = 0.5;

/** Limits the memory that the bodies of requests in flight use together. */
class Budget {
  private used = 0;
  private readonly usedByCaller = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  /**
   * Takes bytes from the budget. Returns false, and takes nothing, if too few bytes are left.
   * @param caller id of the caller whose share is limited; null: no limit
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

/** Memory that the body of one request takes from a budget. */
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
   * Takes more memory, so that the body has at least `bytes` in all. Returns false if the budget, or the share of the
   * caller, has too little left.
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

/** Returns the memory of the body of a request that has passed {@link limitBodiesInFlight}. */
export function bodyMemoryOf(request: Request): BodyMemory {
  const { [MEMORY]: memory } = request as Request & { readonly [MEMORY]?: BodyMemory };
  if (memory === undefined) throw new Error('The request has not passed limitBodiesInFlight.');
  return memory;
}

/** Error for a body that needs more memory than is left. */
export function bodyMemoryExhausted(): ProblemError {
  return serviceUnavailable('Too many bytes of request bodies are in flight. Nothing was stored.');
}

/**
 * Refuses a request with 503 and `Retry-After`, without reading its body, if the memory budget has no room for the
 * body. A body takes memory from the arrival of the request's headers until the request has been answered.
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

/** Returns the id of the caller whose share {@link MAX_SHARE} limits; null for callers who have no id of their own. */
export function sharingCaller({ kind, id }: Principal): string | null {
  return kind === 'anonymous' || kind === 'open' ? null : id;
}
