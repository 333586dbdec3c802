import { add, type Rational } from '../../../core/decimal';
import {
  type CustomerEntitlement,
  type BalanceRecord,
  toCustomerEntitlement,
} from './customer-entitlement';
import { allows } from './entitlement-balance';

export interface ConsumptionRequest {
  readonly quantity: Rational;
  readonly idempotencyKey: string;
}

export interface Consumption {
  readonly isAllowed: boolean;
  /** State after the request. */
  readonly state: CustomerEntitlement;
}

export interface ConsumptionDecision extends ConsumptionRequest {
  readonly answer: Consumption;
}

/**
 * Allows or refuses requests in the given order. A request is refused as a whole if the requests before it leave too
 * little for its quantity. The returned `used` is the usage of the balance after all requests.
 */
export function decide(
  record: BalanceRecord,
  requests: readonly ConsumptionRequest[],
): { readonly decisions: readonly ConsumptionDecision[]; readonly used: Rational } {
  let current = record;
  const decisions = requests.map((request): ConsumptionDecision => {
    const isAllowed = allows(current, request.quantity);
    if (isAllowed) current = withUsed(current, add(current.row.used, request.quantity));
    return { ...request, answer: { isAllowed, state: toCustomerEntitlement(current) } };
  });
  return { decisions, used: current.row.used };
}

/** Returns only the first request with each idempotency key. */
export function firstOfKeys(
  requests: readonly ConsumptionRequest[],
): readonly ConsumptionRequest[] {
  const keys = new Set<string>();
  return requests.filter(({ idempotencyKey }) => {
    const isFirst = !keys.has(idempotencyKey);
    keys.add(idempotencyKey);
    return isFirst;
  });
}

function withUsed({ entitlement, row }: BalanceRecord, used: Rational): BalanceRecord {
  return { entitlement, row: { ...row, used } };
}
