import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { CatalogPrice, PriceTerms } from './price';

/** A set of prices that is sold in addition to a plan. */
export interface Addon {
  readonly id: string;
  readonly version: number;
  /** Unique among all add-ons; the code of an archived add-on cannot be used again. */
  readonly code: string;
  readonly name: string;
  /** ISO 4217; the currency of all prices. */
  readonly currency: string;
  /** Prices in the order of the request; immutable. */
  readonly prices: readonly CatalogPrice[];
  readonly metadata: Metadata;
  /** Null: not archived. An archived add-on cannot be sold again; existing subscriptions keep it. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type AddonTerms = Pick<Addon, 'code' | 'name' | 'currency' | 'metadata'> & {
  readonly prices: readonly PriceTerms[];
};

export type AddonChange = ChangeOf<Addon, 'name' | 'metadata'>;
