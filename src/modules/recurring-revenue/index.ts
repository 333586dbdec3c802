export {
  MRR_CHANGE_KINDS,
  type MrrChange,
  type MrrChangeFilter,
  type MrrChangeKind,
  type MrrSum,
} from './domain/mrr-change';
export { RecurringRevenueModule } from './recurring-revenue.module';
export { RecurringRevenueService } from './recurring-revenue.service';
