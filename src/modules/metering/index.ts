export type { Group, GroupUsage } from './domain/group-usage';
export type { Meter } from './domain/meter';
export type { StoredUsageEvent } from './domain/usage-event';
export { MeteringModule } from './metering.module';
export { MetersService } from './meters.service';
export type { UsageQuery, UsageReading } from './store/usage-store';
export { isUsageRequest } from './usage-route';
export { UsageWatchers } from './usage-watchers';
export type { MovedWindow, UsageWatcher } from './usage-watchers';
