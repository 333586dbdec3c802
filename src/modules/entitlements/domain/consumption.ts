import { add, type Rational } from '../../../core/decimal';
import { type CustomerEntitlement, type Held, holdingOf, shown } from './customer-entitlement';
import { allows } from './holding';

export interface ConsumptionRequest {
  readonly quantity: Rational;
  readonly idempotencyKey: string;
}

export interface Consumption {
  readonly isAllowed: boolean;
  /** As it is afterwards. */
  readonly state: CustomerEntitlement;
}

/** A request with its answer. */
export interface Decision extends ConsumptionRequest {
  readonly answer: Consumption;
}

/** Answers requests in their order, each by what those before it have left: all of its quantity, or nothing. */
export function decide(
  held: Held,
  requests: readonly ConsumptionRequest[],
): { readonly decisions: readonly Decision[]; readonly used: Rational } {
  let current = held;
  const decisions = requests.map((request): Decision => {
    const isAllowed = allows(holdingOf(current), request.quantity);
    if (isAllowed) current = withUsed(current, add(current.row.used, request.quantity));
    return { ...request, answer: { isAllowed, state: shown(current) } };
  });
  return { decisions, used: current.row.used };
}

/** The first request of each key. */
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

function withUsed({ entitlement, row }: Held, used: Rational): Held {
  return { entitlement, row: { ...row, used } };
}
