/** Automatic charges in one currency that have the same attempt number, status and failure code. */
export interface CollectionRow {
  readonly currency: string;
  /** 1 for the first attempt to charge for an invoice, 2 for the second, and so on. */
  readonly attempt: number;
  readonly status: string;
  /** Null for charges that have not failed. */
  readonly failureCode: string | null;
  readonly payments: number;
  /** Sum of the charges, in minor units, as text. */
  readonly amount: string;
}
