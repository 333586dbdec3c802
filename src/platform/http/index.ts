export { limitBodiesInFlight, sharingCaller } from './body-memory';
export { withinBodyTime } from './body-time';
export {
  announcedBytes,
  announcesBody,
  guardBody,
  hasBody,
  isLosslessJson,
  isStorable,
} from './body-guard';
export { endUnreadBodies } from './unread-body';
export { encodingOf, requireReadEncoding } from './encodings';
export {
  DECIMAL_TEXT,
  HasNoRepeats,
  HEADER_KEY_TEXT,
  isInstant,
  IsText,
  isText,
  KEY_TEXT,
} from './field-rules';
export {
  BooleanField,
  CountryField,
  CurrencyField,
  DecimalField,
  EmailField,
  EnumField,
  EnumListFilter,
  Field,
  FromField,
  IdField,
  IdListField,
  IdListFilter,
  InstantField,
  IntegerField,
  KeyField,
  ListField,
  MetadataField,
  MinorUnitsField,
  NestedField,
  NestedListField,
  PatternField,
  ReferenceField,
  ReferenceFilter,
  SortField,
  TextField,
  TimeZoneField,
  ToField,
} from './fields';
export {
  ActorProperty,
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MapProperty,
  MetadataProperty,
  NestedListProperty,
  NestedProperty,
  ObjectProperty,
  TextListProperty,
  TextProperty,
} from './properties';
export { pointerTo, toValidationError } from './faults';
export { exampleOf } from './example';
export { ExpandInterceptor, withFields } from './expand.interceptor';
export { IdPipe } from './id.pipe';
export {
  MinAmountField,
  LimitField,
  ListQueryDto,
  MaxAmountField,
  pageOf,
  possibleStatuses,
  toAmountRange,
  toInstant,
  toInstantRange,
  toOpaquePageRequest,
  toPageDto,
  toPageRequest,
  WithPaging,
} from './list';
export type { PageDto } from './list';
export { ANSWERED, useFastJson } from './fast-json';
export { HttpAdapter } from './http-adapter';
export { linesOf } from './ndjson';
export type { LineLimits } from './ndjson';
export type { StallLimits } from './read-unless-stalled';
export { guardLoopback } from './loopback-guard';
export { composeMiddleware } from './compose-middleware';
export type { CsvRows } from './csv';
export { Operation } from './operation';
export { sendFile } from './file';
export { PROBLEM_MEDIA_TYPE } from './problem-response';
export { removeParsers, routeExactly } from './routes';
export { securityHeaders } from './security-headers';
export { sendLines } from './send-lines';
export { isJson, readBytes, readJson } from './read-json';
export { ProblemFilter } from './problem.filter';
export { refuseUnreadable } from './refuse-unreadable';
export { catchUnroutable, guardUrl } from './url-guard';
export { createValidationPipe } from './validation.pipe';
export { IfMatch, prepareIfNoneMatch, withETag, withETagForChanges } from './versions';
export { type SummaryDto, summaryOf, toSummaryDto } from './summary';
export { mapperTo, toDto } from './to-dto';
export { toWireAmount, toWireInstant } from './wire';
