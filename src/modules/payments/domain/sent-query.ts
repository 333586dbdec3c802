import type { ProviderName } from './payment-provider';

/** Query for a page of the payments or refunds that were sent to a provider in a period. */
export interface SentQuery {
  readonly provider: ProviderName;
  /** Period `[from, to)`, in real time. */
  readonly from: Date;
  readonly to: Date;
  /** Last row of the previous page; null for the first page. */
  readonly after: { readonly at: Date; readonly id: string } | null;
  readonly limit: number;
}
