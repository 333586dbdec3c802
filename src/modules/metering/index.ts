export type { StoredUsageEvent } from './domain/usage-event';
export { FinalUsageService } from './final-usage.service';
export { MeteringModule } from './metering.module';
export {
  type EventPage,
  type UsageQuery,
  type UsageReading,
  UsageStore,
} from './store/usage-store';
export { type UsageWindow, UsageWindows } from './store/usage-windows';
export { UnbillableTimes, type UsageOf } from './unbillable-times';
export { isUsageRequest } from './usage-route';
export { UsageWatchers } from './usage-watchers';
export type { MovedWindow, UsageWatcher } from './usage-watchers';
export { type UsageBill, UsageBillingService } from './usage-billing.service';
export { UsageService } from './usage.service';
export { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';
