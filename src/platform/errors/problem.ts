/**
 * What kind of failure it is, from the caller's side. The HTTP layer maps each kind to one status; nothing below that
 * layer knows of HTTP.
 */
export type ProblemKind =
  | 'malformed'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'timed_out'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rule_broken'
  | 'unavailable'
  | 'internal';

export interface ProblemDefinition {
  /** Stable: clients branch on it. */
  readonly code: string;
  readonly kind: ProblemKind;
  /** The same for every occurrence, in a few words. */
  readonly title: string;
  /** For the documentation: when it happens and what the caller can do. */
  readonly meaning: string;
}

/** One offending place in the request. `pointer` is a JSON pointer into the body, or `?name` for a query parameter. */
export interface ProblemItem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemOccurrence {
  /** This occurrence, in a sentence for people. Never holds a secret, SQL or a stack. */
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
  /** Further members of the answer, spelled as on the wire. */
  readonly extensions?: Readonly<Record<string, string | number | boolean | null>>;
  readonly retryAfterSeconds?: number;
  /** Methods the route does answer to, for `method_not_allowed`. */
  readonly allow?: readonly string[];
}

/** A failure the caller can act on. Everything else that is thrown is a defect and becomes `internal_error`. */
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

/** Makes the error of one occurrence, and carries the definition for the documentation. */
export interface Problem<Arguments extends readonly unknown[] = readonly never[]> {
  (...facts: Arguments): ProblemError;
  readonly definition: ProblemDefinition;
}

const definitions = new Map<string, ProblemDefinition>();

/** Defines a failure once: its stable code and how an occurrence is told. */
export function defineProblem<Arguments extends readonly unknown[]>(
  definition: ProblemDefinition,
  describe: (...facts: Arguments) => ProblemOccurrence,
): Problem<Arguments> {
  if (definitions.has(definition.code)) {
    throw new Error(`The error code ${definition.code} is defined twice.`);
  }
  definitions.set(definition.code, definition);
  return Object.assign((...facts: Arguments) => new ProblemError(definition, describe(...facts)), {
    definition,
  });
}

/** Every failure defined by the modules loaded so far, by code. The documentation is made from it. */
export function allProblems(): readonly ProblemDefinition[] {
  return [...definitions.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
