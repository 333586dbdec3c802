export {
  formatDecimal,
  formatExact,
  MAX_FRACTION_DIGITS,
  parseDecimal,
  parseExact,
} from './decimal';
export {
  add,
  ceiling,
  compare,
  divide,
  greaterOf,
  lesserOf,
  multiply,
  overCommonDenominator,
  rational,
  roundToInteger,
  subtract,
  sum,
  ZERO,
  type Rational,
} from './rational';
