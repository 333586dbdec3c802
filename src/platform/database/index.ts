export { BigIntegers, Instants, Integers, Texts, Uuids } from './array-elements';
export {
  AmountColumn,
  BigIntColumn,
  CountColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from './columns';
export { openConnection } from './connection-settings';
export type { TimedQuery } from './connections';
export { Database } from './database';
export { ExactJsonColumn } from './exact-json.column';
export { DatabaseModule } from './database.module';
export type { DatabaseSource } from './database.module';
export { readDamagedRows, nullIfUnreadable } from './damaged-rows';
export { dataSourceOptions, ENTITIES } from './data-source-options';
export type { HeldConnection } from './held-connection';
export { idTime } from './id-time';
export { listOfAnyLength } from './list-of-any-length';
export { MigrationLockError } from './migration-lock';
export { keptFrom, oldestKept } from './partition-months';
export { Partitions } from './partitions';
export { type Page, pageFrom, type PageRequest } from './keyset';
export { migrate, SchemaError } from './migrate';
export { OutcomeUnknownError } from './outcome-unknown';
export {
  isConnectionLimit,
  isDataDamaged,
  isDataException,
  isDatabaseOutOfReach,
  isDatabaseUnavailable,
  isInterruption,
  isLockTimeout,
  isOutage,
  isTableMissing,
  isWorthRetrying,
  onViolation,
  violatedConstraint,
} from './postgres-errors';
export { poolUseOf } from './pool-use';
export { PoolerError } from './require-dedicated-sessions';
export { cursorAt, positionOf } from './list-cursor';
export { type ListOrder, NEWEST_FIRST, orderOf } from './list-order';
export { ListQuery, type ListSummary } from './list-query';
export { Reports } from './reports';
export { ReservedConnection } from './reserved-connection';
export { ROW_LOCKS, type LockPurpose } from './row-locks';
export { containsPart, searchedText } from './search-sql';
export { assertVersion, revise } from './versions';
export type { VersionCondition } from './versions';
export { untilWritersEnd } from './writers';
