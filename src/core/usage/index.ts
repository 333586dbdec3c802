export { type Aggregation, AGGREGATIONS } from './aggregation';
export {
  type Group,
  type GroupUsage,
  carryOverStart,
  FOR_EVER,
  readingsOf,
  type TotalsByGroup,
  usageOfWindow,
  type UsageTotals,
  valueOf,
} from './usage-totals';
