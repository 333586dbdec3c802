import type { Invoice } from '../invoicing';

/** The next invoice after a command, with the plan version it is for. */
export interface SubscriptionPreview {
  readonly invoice: Invoice;
  readonly planVersionId: string;
  readonly billsAt: Date;
}
