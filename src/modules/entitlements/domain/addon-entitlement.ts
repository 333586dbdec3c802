import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { TermsFault } from '../../../core/terms-fault';
import type { EntitlementType } from './entitlement';

export const ENTITLEMENT_MODES = ['increment', 'set'] as const;
export type EntitlementMode = (typeof ENTITLEMENT_MODES)[number];

/** Maximum number of entitlements per add-on, so that the list needs no pages. */
export const MAX_LINKS_PER_ADDON = 100;

/** Link of an add-on to an entitlement: customers with the add-on have the entitlement. */
export interface AddonEntitlement {
  readonly id: string;
  readonly version: number;
  readonly addonId: string;
  readonly entitlementId: string;
  /** `increment`: the value is added to the values of other sources. `set`: the value replaces the values of plans. */
  readonly mode: EntitlementMode;
  /** Value per unit of the add-on, as a decimal string; null for a boolean entitlement. */
  readonly value: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type AddonEntitlementTerms = Pick<
  AddonEntitlement,
  'addonId' | 'entitlementId' | 'value' | 'metadata'
> & {
  /** Null: the default for the type of the entitlement. */
  readonly mode: EntitlementMode | null;
};

export type AddonEntitlementChange = ChangeOf<AddonEntitlement, 'mode' | 'value' | 'metadata'>;

export function defaultMode(type: EntitlementType): EntitlementMode {
  return type === 'boolean' ? 'set' : 'increment';
}

export function faultsOfLink(
  type: EntitlementType,
  { mode, value }: Pick<AddonEntitlement, 'mode' | 'value'>,
): readonly TermsFault[] {
  const isBoolean = type === 'boolean';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [isBoolean && mode !== 'set', '/mode', 'must be set for a boolean entitlement'],
    [isBoolean && value !== null, '/value', 'must be null for a boolean entitlement'],
    [!isBoolean && value === null, '/value', `is required for a ${type} entitlement`],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
