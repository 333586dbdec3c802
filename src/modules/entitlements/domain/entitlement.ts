import type { Metadata } from '../../../core/metadata';

export const ENTITLEMENT_TYPES = ['boolean', 'static', 'metered'] as const;
export type EntitlementType = (typeof ENTITLEMENT_TYPES)[number];

/** What a key looks like. */
export const ENTITLEMENT_KEY = /^[a-z][a-z0-9_.-]{0,63}$/;

/** Told of unless an entitlement says otherwise. */
export const USUAL_THRESHOLDS: readonly number[] = [80, 100];

/** Something that customers can be allowed: a feature, a number of seats, an amount of usage. */
export interface Entitlement {
  readonly id: string;
  readonly version: number;
  /** What a program asks for; unique. */
  readonly key: string;
  readonly name: string;
  /** On or off, a fixed number, or a limit on what a meter counts. */
  readonly type: EntitlementType;
  /** What its value counts, for people. */
  readonly unit: string | null;
  /** Only for `metered`. */
  readonly meterId: string | null;
  /** Of its limit, in percent, ascending: reaching one is told of. */
  readonly thresholds: readonly number[];
  /** Counts the changes of what add-ons bring of it. */
  readonly rulesVersion: number;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new entitlement is made of. */
export type EntitlementTerms = Pick<
  Entitlement,
  'key' | 'name' | 'type' | 'unit' | 'meterId' | 'thresholds' | 'metadata'
>;

/** What an update may change; what is left out stays, null clears. */
export interface EntitlementChange {
  readonly name?: string | undefined;
  readonly unit?: string | null | undefined;
  readonly thresholds?: readonly number[] | undefined;
  readonly metadata?: Metadata | undefined;
}

/** A field that contradicts the others, and why. Fields are named as on the wire. */
export interface TermsFault {
  readonly pointer: string;
  readonly message: string;
}

/** The places where terms contradict each other: a meter where nothing is metered. */
export function faultsOfEntitlement(terms: EntitlementTerms): readonly TermsFault[] {
  return terms.type !== 'metered' && terms.meterId !== null
    ? [{ pointer: '/meter_id', message: 'is only for type metered' }]
    : [];
}
