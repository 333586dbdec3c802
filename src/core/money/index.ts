export { allocate, allocateShares } from './allocate';
export { isCurrency, minorDigits } from './currency';
export { multiplyByRatio, roundHalfAwayFromZero } from './rounding';
export { isWireSafe } from './wire';
