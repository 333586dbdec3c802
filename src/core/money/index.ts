export type { AmountRange } from './amount-range';
export { allocate, allocateShares } from './allocate';
export { digitsByCode, isCurrency, minorDigits } from './currency';
export { greater, lesser, nonNegative } from './extremes';
export { multiplyByRatio, roundHalfAwayFromZero } from './rounding';
export { total } from './total';
export { isWireSafe } from './wire';
