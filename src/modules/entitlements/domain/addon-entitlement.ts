import type { Metadata } from '../../../core/metadata';
import type { EntitlementType, TermsFault } from './entitlement';

export const ENTITLEMENT_MODES = ['increment', 'set'] as const;
export type EntitlementMode = (typeof ENTITLEMENT_MODES)[number];

/** One add-on can bring so many entitlements, so that a list of them needs no pages. */
export const MOST_LINKS_OF_AN_ADDON = 100;

/** Who has the add-on has the entitlement. */
export interface AddonEntitlement {
  readonly id: string;
  readonly version: number;
  readonly addonId: string;
  readonly entitlementId: string;
  /** Whether the value adds to what the customer has from elsewhere, or takes its place. */
  readonly mode: EntitlementMode;
  /** Decimal string; null for a boolean entitlement. */
  readonly value: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new link is made of. */
export type AddonEntitlementTerms = Pick<
  AddonEntitlement,
  'addonId' | 'entitlementId' | 'value' | 'metadata'
> & {
  /** null: the usual one of the entitlement's type */
  readonly mode: EntitlementMode | null;
};

/** What an update may change; what is left out stays. */
export interface AddonEntitlementChange {
  readonly mode?: EntitlementMode | undefined;
  readonly value?: string | null | undefined;
  readonly metadata?: Metadata | undefined;
}

/** A boolean entitlement is there or not, which is set; a number is added unless said otherwise. */
export function usualMode(type: EntitlementType): EntitlementMode {
  return type === 'boolean' ? 'set' : 'increment';
}

/** The places where a link contradicts the type of its entitlement. */
export function faultsOfLink(
  type: EntitlementType,
  { mode, value }: Pick<AddonEntitlement, 'mode' | 'value'>,
): readonly TermsFault[] {
  const isBoolean = type === 'boolean';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [isBoolean && mode !== 'set', '/mode', 'must be set for a boolean entitlement'],
    [isBoolean && value !== null, '/value', 'is not for a boolean entitlement'],
    [!isBoolean && value === null, '/value', `is required for a ${type} entitlement`],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
