import type { Redemption } from './bill';
import type { Item, Terms } from './items';

/** What the reference knows of a subscription. */

interface RunningPeriod {
  readonly from: number;
  to: number;
  readonly fullFrom: number;
  readonly index: number;
  readonly isTrial: boolean;
  isOver: boolean;
  /** When it is to be told that a trial ends; null once it was. */
  tellsAt: number | null;
}

type Pending =
  | { readonly kind: 'cancel'; readonly at: number; readonly credits: boolean }
  | { readonly kind: 'change'; readonly at: number; readonly terms: Terms };

export interface ReferenceSubscription {
  readonly index: number;
  status: 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled';
  terms: Terms;
  readonly mode: 'anniversary' | 'calendar';
  anchor: number;
  items: Item[];
  period: RunningPeriod;
  pending: Pending | null;
  readonly redemptions: Redemption[];
  readonly events: string[];
  readonly spans: { readonly from: number; to: number }[];
}
