import type { Metadata } from '../../../core/metadata';
import type { Price, PriceTerms } from './price';

/** Something that is sold beside a plan. */
export interface Addon {
  readonly id: string;
  readonly version: number;
  /** Unique for ever, also among archived add-ons. */
  readonly code: string;
  readonly name: string;
  /** ISO 4217; of all its prices. */
  readonly currency: string;
  /** In the order they were sent; they never change. */
  readonly prices: readonly Price[];
  readonly metadata: Metadata;
  /** Set when it was archived: it can no longer be sold, what was sold goes on. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new add-on is made of. */
export type AddonTerms = Pick<Addon, 'code' | 'name' | 'currency' | 'metadata'> & {
  readonly prices: readonly PriceTerms[];
};

/** What an update may change; what is left out stays. */
export interface AddonChange {
  readonly name?: string | undefined;
  readonly metadata?: Metadata | undefined;
}
