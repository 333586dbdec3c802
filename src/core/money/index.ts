export { allocate, allocateShares } from './allocate';
export { isCurrency, minorDigits } from './currency';
export { addMoney, subtractMoney, sumMoney, type Money } from './money';
export { multiplyByRatio, roundHalfAwayFromZero } from './rounding';
export { isWireSafe, WIRE_MAX } from './wire';
