export {
  periodAfter,
  periodAt,
  periodContaining,
  type BillingAnchor,
  type BillingPeriod,
  type Interval,
} from './billing-anchor';
export { assertNoOverlap, contains, elapsedSeconds, overlaps, type Period } from './period';
export { isTimeZone, localDateCount, localDateOn } from './zone';
