export { chargeEvents, type ChargedEvents, type EventCharger } from './percentage';
export { type LimitedPrice, monthlyAmountOf, periodAmountOf } from './period-amount';
export type { PercentagePrice, Price, Tier } from './price';
export { exactAtLine, rate, roundAtLine, type Usage } from './rate';
export type { TraceStep } from './trace';
export { trueUp, withinLimits } from './true-up';
