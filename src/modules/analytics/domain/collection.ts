/** Automatic charges of one attempt with one result, in one currency. */
export interface CollectionRow {
  readonly currency: string;
  /** Number of the attempt at its invoice, from 1. */
  readonly attempt: number;
  readonly status: string;
  /** Why the charges failed; null for charges that have not failed. */
  readonly failureCode: string | null;
  readonly payments: number;
  /** Minor units as text. */
  readonly amount: string;
}
