import type { Metadata } from '../../../core/metadata';

/** A tax that customers are billed. What it takes never changes: another percentage is another rate. */
export interface TaxRate {
  readonly id: string;
  readonly version: number;
  /** What an invoice calls it. */
  readonly name: string;
  /** Decimal string, percent, 0 to 100. */
  readonly percentage: string;
  /** Whether the amounts of lines hold this tax already. */
  readonly inclusive: boolean;
  /** ISO 3166-1 alpha-2; for people. */
  readonly country: string | null;
  /** An inactive rate is given to no further customer; those who have it keep it. */
  readonly isActive: boolean;
  readonly metadata: Metadata;
  /** Set when it was archived: it is found no more, those who have it keep it. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new rate is made of. */
export type TaxRateTerms = Pick<
  TaxRate,
  'name' | 'percentage' | 'inclusive' | 'country' | 'metadata'
>;

/** What an update may change; what is left out stays. */
export interface TaxRateChange {
  readonly isActive?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
}
