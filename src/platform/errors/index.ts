export { allProblems, defineProblem, ProblemError } from './problem';
export type {
  Problem,
  ProblemDefinition,
  ProblemItem,
  ProblemKind,
  ProblemOccurrence,
} from './problem';
export {
  idempotencyKeyInUse,
  idempotencyKeyMismatch,
  idempotencyKeyReused,
  internalError,
  invalidCursor,
  invalidTransition,
  malformedRequest,
  metadataTooLarge,
  methodNotAllowed,
  payloadTooLarge,
  preconditionFailed,
  referenceNotFound,
  requestTimeout,
  routeNotFound,
  serviceUnavailable,
  unsupportedMediaType,
  validationFailed,
} from './platform.errors';
