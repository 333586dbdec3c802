export { ArrayElements, Instants, Integers, Texts, Uuids } from './array-elements';
export { CallScope } from './call-scope';
export {
  AmountColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from './columns';
export { Database } from './database';
export { DatabaseModule } from './database.module';
export { dataSourceOptions } from './data-source-options';
export { pageById } from './keyset';
export type { Page, PageRequest } from './keyset';
export { migrate, SchemaError } from './migrate';
export {
  isDatabaseOutOfReach,
  isDatabaseUnavailable,
  isLockTimeout,
  isWorthRetrying,
  violatedConstraint,
} from './postgres-errors';
export { assertVersion } from './versions';
export type { VersionCondition } from './versions';
