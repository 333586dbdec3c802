export {
  monthsAfter,
  periodAt,
  periodContaining,
  periodFollowing,
  periodsBegunBy,
  type BillingAnchor,
  type Interval,
} from './billing-anchor';
export { contains, elapsedSeconds, type Period } from './period';
export {
  isTimeZone,
  lastLocalDateOf,
  localDateCount,
  localDateOn,
  monthOfYearBefore,
} from './zone';
export { BEGINNING, earliest, type InstantRange } from './instant-range';
export { isTooLongFor, windowsOf, type WindowInterval } from './windows';
