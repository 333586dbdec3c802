/** Amounts owed in one currency, by days overdue, in minor units as text. */
export interface Receivables {
  readonly currency: string;
  /** Null for the sums of all customers. */
  readonly customerId: string | null;
  readonly customerName: string | null;
  /** True if the customer is deleted. Null for the sums of all customers. */
  readonly isDeleted: boolean | null;
  readonly invoices: number;
  readonly total: string;
  readonly notDue: string;
  readonly days1To30: string;
  readonly days31To60: string;
  readonly days61To90: string;
  readonly over90Days: string;
}
