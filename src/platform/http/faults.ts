import { ProblemError, type ProblemItem, validationFailed } from '../errors';

/** What a person mends at once; the answer to nonsense is not to be larger than the nonsense. */
const MOST_FAULTS = 100;

/** The refusal of a request for what is wrong with it. Tells of no more than 100 places, and then says that it does. */
export function refusalOf(faults: Iterable<ProblemItem>): ProblemError {
  const told: ProblemItem[] = [];
  for (const fault of faults) {
    if (told.length === MOST_FAULTS) {
      return new ProblemError(validationFailed.definition, {
        detail: `More than ${MOST_FAULTS} places in the request are wrong; errors holds ${MOST_FAULTS} of them.`,
        errors: told,
      });
    }
    told.push(fault);
  }
  return validationFailed(told);
}

/** JSON pointer (RFC 6901) to a field of what `parent` points to. */
export function pointerTo(field: string, parent: string): string {
  return `${parent}/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function unknownField(field: string, parent = ''): ProblemItem {
  return {
    pointer: pointerTo(field, parent),
    code: 'unknown_field',
    message: 'is not a field of this request',
  };
}
