import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';

/** A tax rate that customers are billed with. The percentage is immutable: a new percentage needs a new rate. */
export interface TaxRate {
  readonly id: string;
  readonly version: number;
  /** Name shown on invoices. */
  readonly name: string;
  /** Percent as a decimal string, 0 to 100. */
  readonly percentage: string;
  /** If true, the amounts of lines include this tax. */
  readonly inclusive: boolean;
  /** ISO 3166-1 alpha-2; for display only. */
  readonly country: string | null;
  /** An inactive rate cannot be assigned to more customers. Customers who have the rate keep it. */
  readonly isActive: boolean;
  readonly metadata: Metadata;
  /** Null: not archived. The API hides an archived rate. Customers who have the rate keep it. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type TaxRateTerms = Pick<
  TaxRate,
  'name' | 'percentage' | 'inclusive' | 'country' | 'metadata'
>;

export type TaxRateChange = ChangeOf<TaxRate, 'isActive' | 'metadata'>;
