export { ArchiveUsage } from './archive/archive-usage';
export type { WindowEdge } from './archive/archived-events.repository';
export { ArchivedUsage } from './archive/archived-usage';
export { RemoveArchivedUsage } from './archive/remove-archived-usage';
export { DUE_LATE_USAGE } from './closed-subscriptions.repository';
export { FinalUsageService } from './final-usage.service';
export { MeteringModule } from './metering.module';
export { MeterUsageService } from './meter-usage.service';
export { MeterPeriodDto, toPeriod } from './dto/meter-usage-query.dto';
export { ArchivedMonthDto, toArchivedMonthDto } from './dto/usage-archive.dto';
export type { ArchivedMonth } from './domain/archived-month';
export { toUsageProofDto, UsageProofDto } from './dto/usage-proof.dto';
export {
  tooManyEventsToProve,
  tooManyWindows,
  usageArchived,
  usagePeriodEmpty,
} from './usage.errors';
export {
  type CountedEvent,
  type UsageProof,
  type UsageQuery,
  type UsageReading,
  UsageStore,
} from './usage-store';
export { UsageWindows } from './store/usage-windows';
export { isNdjsonUsageRequest, isUsageRequest } from './usage-route';
export { UsageHooks } from './usage-hooks';
export type { ChangedWindow } from './usage-hooks';
export type { BilledPeriod, RepeatableBill } from './usage-billed.repository';
export { UsageBillingService, type UsageToBlock } from './usage-billing.service';
export { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';
export { LOCK_STREAMS, UsageStreams } from './store/usage-streams';
export {
  ingestSlotOf,
  changesOnlyWindow,
  joinedAppend,
  lockedStreams,
  nextWindowChange,
  plainAggregation,
  plainAppend,
  usageKeyDigest,
} from './ingest/joined-append';
