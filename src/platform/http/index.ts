export { announcesBody, guardBody, hasBody, isKeepable, isStorable } from './body-guard';
export { readAsciiAsUtf8, requireUtf8 } from './charset';
export {
  HasNoRepeats,
  IdProperty,
  InstantProperty,
  isInstant,
  IsCountry,
  IsCurrency,
  IsDecimal,
  IsIdOf,
  IsInstant,
  IsMinorUnits,
  IsText,
  isText,
  IsTimeZone,
  MetadataField,
  MetadataProperty,
  Nullable,
  Omittable,
} from './fields';
export { pointerTo, refusalOf } from './faults';
export { exampleOf } from './example';
export { IdPipe } from './id.pipe';
export { ListQueryDto, pageOf, toOpaquePageRequest, toPageDto, toPageRequest } from './list';
export type { PageDto } from './list';
export { answerJsonPlainly } from './json-answer';
export { linesOf } from './ndjson';
export type { LineLimits } from './ndjson';
export type { Patience } from './unless-stalled';
export { NoFields } from './no-fields.guard';
export { inOneLayer } from './one-layer';
export { Operation } from './operation';
export { sendFile } from './file';
export { routeExactly } from './routes';
export { securityHeaders } from './security-headers';
export { sendLines } from './send-lines';
export { readPlainJson } from './plain-body';
export { ProblemFilter } from './problem.filter';
export { catchUnreadableTargets, guardUrl } from './url-guard';
export { createValidationPipe } from './validation.pipe';
export { IfMatch, tag } from './versions';
export { toWireAmount, toWireInstant } from './wire';
