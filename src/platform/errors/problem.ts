import type { TermsFault } from '../../core/terms-fault';
/** Kind of failure, from the caller's point of view. Only the HTTP layer maps kinds to status codes. */
export type ProblemKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'timed_out'
  | 'too_large'
  | 'head_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'rule_broken'
  | 'too_many_requests'
  | 'unavailable'
  | 'internal';

export interface ProblemDefinition {
  /** Code on which clients branch. It never changes. */
  readonly code: string;
  readonly kind: ProblemKind;
  /** Short text, the same for every occurrence. */
  readonly title: string;
  /** Text for the documentation: when the error occurs, and what the caller can do. */
  readonly meaning: string;
  /**
   * True if waiting is enough: the same request may succeed later. Such an error is not stored for the idempotency key of
   * its request.
   */
  readonly isTemporary?: boolean;
}

/**
 * One invalid value in the request. `pointer` is a JSON pointer into the body, or into an object made of the query
 * parameters.
 */
export interface ProblemItem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemOccurrence {
  /** Describes this occurrence in a sentence. Never contains a secret, SQL or a stack trace. */
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
  /** Further members of the answer, with their JSON names. */
  readonly extensions?: Readonly<Record<string, string | number | boolean | null>>;
  readonly retryAfterSeconds?: number;
  /** Allowed methods, for `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** Value of the header `WWW-Authenticate`, for `unauthenticated`. */
  readonly authenticate?: string;
  /** Supported encodings of bodies, for `unsupported_media_type`. */
  readonly acceptedEncodings?: readonly string[] | undefined;
}

/** A failure that the caller can act on. Every other thrown error is a defect and becomes `internal_error`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly definition: ProblemDefinition,
    readonly occurrence: ProblemOccurrence,
    options?: ErrorOptions,
  ) {
    super(`${definition.code}: ${occurrence.detail}`, options);
  }
}

/** Kinds of failures that no rule causes, such as a timeout or too many requests. */
const OWN_FAILURES: readonly ProblemKind[] = [
  'timed_out',
  'unavailable',
  'too_many_requests',
  'internal',
];

/**
 * Returns true if a rule refused the work. The same request would then be refused again as long as the stored data is
 * the same.
 */
export function isRefusal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && !OWN_FAILURES.includes(error.definition.kind);
}

/** Returns true for a failure after which the same request may succeed later (see {@link ProblemDefinition}). */
export function isTemporaryRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.definition.isTemporary === true;
}

/**
 * Function that creates the error of one occurrence. It also has the definition of the error, for the documentation.
 */
export interface Problem<Arguments extends readonly unknown[] = readonly never[]> {
  (...values: Arguments): ProblemError;
  readonly definition: ProblemDefinition;
}

const definitions = new Map<string, ProblemDefinition>();

/**
 * Definition of an error, with a function that returns either the detail text of an occurrence, or the whole
 * occurrence.
 */
type ProblemTexts<Arguments extends readonly unknown[]> = ProblemDefinition &
  (
    | { readonly detail: (...values: Arguments) => string }
    | { readonly occurrence: (...values: Arguments) => ProblemOccurrence }
  );

/** Defines an error once: its stable code, and a function that describes an occurrence. */
export function defineProblem<Arguments extends readonly unknown[]>(
  texts: ProblemTexts<Arguments>,
): Problem<Arguments> {
  const { code, kind, title, meaning, isTemporary = false } = texts;
  const definition = { code, kind, title, meaning, isTemporary };
  if (definitions.has(code)) throw new Error(`The error code ${code} is defined twice.`);
  definitions.set(code, definition);
  const describe = (...values: Arguments): ProblemOccurrence =>
    'detail' in texts ? { detail: texts.detail(...values) } : texts.occurrence(...values);
  return Object.assign(
    (...values: Arguments) => new ProblemError(definition, describe(...values)),
    {
      definition,
    },
  );
}

/**
 * Defines the error for an unknown id in a path.
 * @param resource name of the resource with its article, such as `a plan`
 * @param exception reason why a resource that once existed is not found either, such as `the plan was archived`
 */
export function defineNotFound(
  code: string,
  resource: `a ${string}` | `an ${string}`,
  exception?: string,
): Problem<[id: string]> {
  const name = resource.replace(/^an? /, '');
  return defineProblem({
    code,
    kind: 'not_found',
    title: `There is no such ${name}`,
    meaning: `The id in the path is not the id of ${resource}${exception === undefined ? '' : `, or ${exception}`}.`,
    detail: (id) => `There is no ${name} ${JSON.stringify(id)}.`,
  });
}

/** Defines the error for fields of a request that contradict each other. */
export function defineContradiction(
  texts: Omit<ProblemDefinition, 'kind'>,
): Problem<[faults: readonly TermsFault[]]> {
  return defineProblem({
    ...texts,
    kind: 'rule_broken',
    occurrence: (faults) => ({
      detail: faults.map(({ pointer, message }) => `${pointer} ${message}`).join('; '),
      errors: faults.map((fault) => ({ ...fault, code: 'contradiction' })),
    }),
  });
}

/** Throws the error. Use it in an expression: `(await find(id)) ?? raise(notFound(id))`. */
export function raise(error: ProblemError): never {
  throw error;
}

/**
 * Returns the definitions of the errors of all modules loaded so far, sorted by code. The documentation is generated
 * from the definitions.
 */
export function allProblems(): readonly ProblemDefinition[] {
  return [...definitions.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
