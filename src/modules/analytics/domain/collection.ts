/** Automatic charges in one currency that have the same attempt number and result. */
export interface CollectionRow {
  readonly currency: string;
  /** Number of the attempt to charge for the invoice, from 1. */
  readonly attempt: number;
  readonly status: string;
  /** Null for charges that have not failed. */
  readonly failureCode: string | null;
  readonly payments: number;
  /** Minor units as text. */
  readonly amount: string;
}
