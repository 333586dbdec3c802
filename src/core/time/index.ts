export {
  periodAfter,
  periodAt,
  periodContaining,
  type BillingAnchor,
  type BillingPeriod,
  type Interval,
} from './billing-anchor';
export { contains, elapsedSeconds, type Period } from './period';
export { lastLocalDateOf, localDateCount, localDateOn, localHourAfter } from './zone';
export type { InstantRange } from './instant-range';
