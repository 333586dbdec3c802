export {
  periodAfter,
  periodAt,
  periodContaining,
  type BillingAnchor,
  type BillingPeriod,
  type Interval,
} from './billing-anchor';
export { contains, elapsedSeconds, type Period } from './period';
export { isTimeZone, lastLocalDateOf, localDateCount, localDateOn, localHourAfter } from './zone';
