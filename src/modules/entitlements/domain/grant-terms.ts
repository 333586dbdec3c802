import { compare, type Rational, ZERO } from '../../../core/decimal';
import type { EntitlementType, TermsFault } from './entitlement';
import type { Grant, GrantTerms } from './grant';

/** A customer can have so many grants of one entitlement at a time: each check of them stays short. */
export const MOST_GRANTS = 100;

/** A grant as it is shown. */
export interface GrantView {
  readonly grant: Grant;
  /** Of the entitlement. */
  readonly key: string;
  /** What is left of it; null where nothing is counted, or once it has ended. */
  readonly remaining: Rational | null;
}

/** The places where a grant contradicts its entitlement or itself. */
export function faultsOfGrant(
  type: EntitlementType,
  { value, expiresAt, rollover }: Omit<GrantTerms, 'priority' | 'metadata'>,
  now: Date,
): readonly TermsFault[] {
  const isBoolean = type === 'boolean';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [isBoolean && value !== null, '/value', 'is not for a boolean entitlement'],
    [!isBoolean && value === null, '/value', `is required for a ${type} entitlement`],
    [value !== null && compare(value, ZERO) <= 0, '/value', 'must be greater than 0'],
    [expiresAt !== null && expiresAt <= now, '/expires_at', 'must be in the future'],
    [rollover !== null && type !== 'metered', '/rollover', 'is only for a metered entitlement'],
    [
      rollover !== null && compare(rollover.min, rollover.max) > 0,
      '/rollover/min',
      'must not be greater than max',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
