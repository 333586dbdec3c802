export {
  factorOf,
  prorate,
  prorateBetween,
  unusedPart,
  type PartBoundary,
  type ProratedPart,
  type Proration,
} from './proration';
