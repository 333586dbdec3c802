import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { TermsFault } from '../../../core/terms-fault';

export const FEATURE_TYPES = ['boolean', 'static', 'metered'] as const;
export type FeatureType = (typeof FEATURE_TYPES)[number];

export const FEATURE_KEY = /^[a-z][a-z0-9_.-]{0,63}$/;

/** Default thresholds of a new metered entitlement, in percent of the limit. */
export const DEFAULT_THRESHOLDS: readonly number[] = [80, 100];

/** Definition of an entitlement: an on/off feature, a fixed number such as seats, or an amount of usage. */
export interface Feature {
  readonly id: string;
  readonly version: number;
  /** Unique key by which applications name the feature when they check an entitlement. */
  readonly key: string;
  readonly name: string;
  /** `boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage. */
  readonly type: FeatureType;
  /** Display name of the unit. */
  readonly unit: string | null;
  /** Meter that counts usage; only for type `metered`. */
  readonly meterId: string | null;
  /**
   * Percentages of the limit, ascending. An event is recorded when a customer's usage reaches one of the percentages.
   * Ignored unless the type is `metered`. Earlier releases stored thresholds for all types.
   */
  readonly thresholds: readonly number[];
  /**
   * Incremented when a link between an add-on and this entitlement is created, changed or deleted. Entitlement balances
   * that were cached with a lower number are outdated.
   */
  readonly rulesVersion: number;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type FeatureTerms = Pick<
  Feature,
  'key' | 'name' | 'type' | 'unit' | 'meterId' | 'thresholds' | 'metadata'
>;

export type FeatureChange = ChangeOf<Feature, 'name' | 'unit' | 'thresholds' | 'metadata'>;

/** Returns the faults in the terms of a feature. Only type `metered` may have a meter or thresholds. */
export function faultsOfFeature({
  type,
  meterId,
  thresholds,
}: Pick<FeatureTerms, 'type' | 'meterId' | 'thresholds'>): readonly TermsFault[] {
  if (type === 'metered') return [];
  return [
    ...(meterId === null
      ? []
      : [{ pointer: '/meter_id', message: 'must be null unless the type is metered' }]),
    ...(thresholds.length === 0
      ? []
      : [{ pointer: '/thresholds', message: 'must be empty unless the type is metered' }]),
  ];
}
