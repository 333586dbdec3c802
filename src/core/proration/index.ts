export { factorOf, prorate, unusedPart, type ProratedPart, type Proration } from './proration';
