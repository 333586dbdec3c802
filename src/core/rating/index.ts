export { chargeEvents, type ChargedEvents, type EventCharger } from './percentage';
export type {
  FlatPrice,
  GraduatedPrice,
  PackagePrice,
  PercentagePrice,
  PerUnitPrice,
  Price,
  Tier,
  VolumePrice,
} from './price';
export { rate, roundAtLine, type Usage } from './rate';
export { amountOfSteps, type RatedAmount, type TraceStep } from './trace';
export { trueUp, type TrueUp, withinLimits } from './true-up';
