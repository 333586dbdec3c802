import { compare, type Rational, ZERO } from '../../../core/decimal';
import type { TermsFault } from '../../../core/terms-fault';
import type { EntitlementType } from './entitlement';
import type { Grant, GrantTerms } from './grant';

/** Maximum number of active grants per customer and entitlement. Bounds the cost of a recalculation. */
export const MAX_GRANTS = 100;

export interface GrantView {
  readonly grant: Grant;
  readonly key: string;
  /** Remaining balance; null if the entitlement is not metered or the grant has ended. */
  readonly remaining: Rational | null;
}

export function faultsOfGrant(
  type: EntitlementType,
  { value, expiresAt, rollover }: Omit<GrantTerms, 'priority' | 'metadata'>,
  now: Date,
): readonly TermsFault[] {
  const isBoolean = type === 'boolean';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [isBoolean && value !== null, '/value', 'must be null for a boolean entitlement'],
    [!isBoolean && value === null, '/value', `is required for a ${type} entitlement`],
    [value !== null && compare(value, ZERO) <= 0, '/value', 'must be greater than 0'],
    [expiresAt !== null && expiresAt <= now, '/expires_at', 'must be in the future'],
    [
      rollover !== null && type !== 'metered',
      '/rollover',
      'must be null unless the entitlement is metered',
    ],
    [
      rollover !== null && compare(rollover.min, rollover.max) > 0,
      '/rollover/min',
      'must not be greater than max',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
