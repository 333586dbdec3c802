export { type Aggregation, AGGREGATIONS } from './aggregation';
export {
  type Group,
  type GroupUsage,
  carryOverStart,
  readingsOf,
  type TotalsByGroup,
  type UsageTotals,
  valueOf,
} from './usage-totals';
