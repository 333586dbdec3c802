import type { NextFunction, Request, Response } from 'express';
import { type Principal, principalOf } from '../access';
import type { RateLimitSettings } from '../config';
import { ProblemError, rateLimited } from '../errors';
import { rateLimitAddress } from './address';
import type { RateLimits } from './rate-limits';

/** Paths that load balancers and orchestrators probe. Requests to them are not counted, and so never exceed a limit. */
const PROBES: ReadonlySet<string> = new Set(['/health/live', '/health/ready']);

/** A customer token has its issuer's limit divided by this number. It is low, as each browser has a token. */
const TOKEN_SHARE = 10;

type Policy = 'usage' | 'address' | 'default';

/**
 * Returns how many requests per minute a policy allows a caller; 0: no limit. An API key can have limits of its own,
 * which apply up to the configured ceilings. A customer token has a tenth of its issuer's limit, rounded up. All other
 * limits come from the configuration.
 */
function limitOf(
  policy: Policy,
  { kind, requestLimits }: Principal,
  limits: RateLimitSettings,
): number {
  const { keyCeilings } = limits;
  if (policy === 'address') return kind === 'open' ? limits.perCaller : limits.perAddress;
  if (policy === 'usage' && kind !== 'customer_token') {
    const own = requestLimits?.usagePerMinute ?? null;
    return own === null ? limits.usagePerCaller : Math.min(own, keyCeilings.usagePerCaller);
  }
  const own = requestLimits?.perMinute ?? null;
  const limit = own === null ? limits.perCaller : Math.min(own, keyCeilings.perCaller);
  return kind === 'customer_token' ? Math.ceil(limit / TOKEN_SHARE) : limit;
}

type LimitMiddleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Returns middleware that identifies the caller with `identify`, and refuses a caller who is above the limit of the
 * current minute. Requests with a valid credential do not count against the limit of their address. Other callers at
 * that address therefore cannot lock out the holder of the credential.
 */
export function limitRequests(
  identify: LimitMiddleware,
  limits: RateLimitSettings,
  {
    counts,
    isUsage,
  }: { readonly counts: RateLimits; readonly isUsage: (request: Request) => boolean },
): LimitMiddleware {
  /** @throws {ProblemError} `rate_limited` */
  const count = (request: Request, response: Response, isValid: boolean): void => {
    const principal = principalOf(request);
    const { kind, id } = principal;
    const byAddress = !isValid || kind === 'anonymous' || kind === 'open';
    const usage = isUsage(request);
    const policy = usage && isValid ? 'usage' : byAddress ? 'address' : 'default';
    const limit = limitOf(policy, principal, limits);
    if (limit === 0) return;
    const caller = byAddress ? rateLimitAddress(request.ip ?? 'unknown') : id;
    const bucket = byAddress && policy === 'usage' ? 'usage-address' : policy;
    const { isExceeded, remaining, resetSeconds } = counts.take(`${bucket}:${caller}`, limit);
    response.setHeader('RateLimit-Policy', `"${policy}";q=${limit};w=60`);
    response.setHeader('RateLimit', `"${policy}";r=${remaining};t=${resetSeconds}`);
    if (isExceeded) throw rateLimited(policy, limit, resetSeconds);
  };
  return (request, response, next) => {
    const identified: NextFunction = (error?: unknown) => {
      if (error !== undefined && !isRefusal(error)) {
        next(error);
        return;
      }
      try {
        if (!isProbe(request)) count(request, response, error === undefined);
        next(error);
      } catch (refusal) {
        next(refusal);
      }
    };
    try {
      identify(request, response, identified);
    } catch (error) {
      identified(error);
    }
  };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof ProblemError &&
    ['unauthenticated', 'forbidden'].includes(error.definition.kind)
  );
}

function isProbe(request: Request): boolean {
  return PROBES.has(request.path);
}
