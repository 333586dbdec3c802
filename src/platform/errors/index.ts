export { PlannedRollback } from './planned-rollback';
export {
  allProblems,
  defineContradiction,
  defineNotFound,
  defineProblem,
  isRefusal,
  ProblemError,
  raise,
} from './problem';
export type { Problem, ProblemDefinition, ProblemItem, ProblemKind } from './problem';
export {
  forbidden,
  notForCustomerToken,
  rateLimited,
  scopeNotHeld,
  unauthenticated,
} from './access.errors';
export {
  crossSiteRequest,
  hostNotLoopback,
  idempotencyKeyInUse,
  idempotencyKeyMismatch,
  idempotencyKeyRequired,
  idempotencyKeyReused,
  internalError,
  invalidCursor,
  invalidTransition,
  malformedRequest,
  metadataTooLarge,
  methodNotAllowed,
  outcomeUnknown,
  payloadTooLarge,
  preconditionFailed,
  referenceNotFound,
  requestHeadTooLarge,
  requestTimeout,
  routeNotFound,
  serviceUnavailable,
  tooManyReports,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
} from './platform.errors';
