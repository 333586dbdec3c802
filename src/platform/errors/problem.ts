import type { TermsFault } from '../../core/terms-fault';
/** Kind of failure, from the caller's point of view. Only the HTTP layer maps a kind to a status code. */
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
  /** Code of the error. It never changes, because clients branch on it. */
  readonly code: string;
  readonly kind: ProblemKind;
  /** Title of the error: a short text, the same for every occurrence. */
  readonly title: string;
  /** Text for the documentation: when the error occurs, and how the caller can react. */
  readonly meaning: string;
  /** True if the same request may succeed later. The error is then not stored for the request's idempotency key. */
  readonly isTemporary?: boolean;
}

/** One invalid value. `pointer` is a JSON pointer into the body, or into an object made of the query parameters. */
export interface ProblemItem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemOccurrence {
  /** A sentence about this occurrence. Never contains a secret, SQL or a stack trace. */
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
  /** Additional members of the answer, with their JSON names. */
  readonly extensions?: Readonly<Record<string, string | number | boolean | null>>;
  readonly retryAfterSeconds?: number;
  /** Allowed methods; only for the error `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** Value of the header `WWW-Authenticate`; only for the error `unauthenticated`. */
  readonly authenticate?: string;
  /** Supported encodings of bodies; only for the error `unsupported_media_type`. */
  readonly acceptedEncodings?: readonly string[] | undefined;
}

/** A failure that the caller can react to. Every other thrown error is a defect and becomes `internal_error`. */
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

/** Kinds of failures that are not refusals by a rule, such as a timeout or an overload. */
const OWN_FAILURES: readonly ProblemKind[] = [
  'timed_out',
  'unavailable',
  'too_many_requests',
  'internal',
];

/** Returns true if a rule refused the work. Until stored data changes, the same request would be refused again. */
export function isRefusal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && !OWN_FAILURES.includes(error.definition.kind);
}

/** Returns true for a failure with `isTemporary` (see {@link ProblemDefinition}). */
export function isTemporaryRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.definition.isTemporary === true;
}

/** Creates the error of one occurrence. The documentation is generated from `definition`. */
export interface Problem<Arguments extends readonly unknown[] = readonly never[]> {
  (...values: Arguments): ProblemError;
  readonly definition: ProblemDefinition;
}

export function isProblem(error: unknown, { definition }: Pick<Problem, 'definition'>): boolean {
  return error instanceof ProblemError && error.definition === definition;
}

const definitions = new Map<string, ProblemDefinition>();

/** Definition of an error, with a function that describes an occurrence: its text (`detail`), or also other members. */
type ProblemTexts<Arguments extends readonly unknown[]> = ProblemDefinition &
  (
    | { readonly detail: (...values: Arguments) => string }
    | { readonly occurrence: (...values: Arguments) => ProblemOccurrence }
  );

/**
 * Defines an error and its stable code.
 * @throws {Error} if the code is already defined
 */
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
 * @param exception another reason for the error, such as `the plan was archived`
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

/** Returns the errors of all modules loaded so far, sorted by code. The documentation is generated from them. */
export function allProblems(): readonly ProblemDefinition[] {
  return [...definitions.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
