import { ProblemError, type ProblemItem, validationFailed } from '../errors';

/** Maximum number of faults in an answer, so that the answer does not grow with the request. */
const MAX_FAULTS = 100;

/** Returns the error of an invalid request. It lists at most {@link MAX_FAULTS} faults, and says if there are more. */
export function toValidationError(faults: Iterable<ProblemItem>): ProblemError {
  const reported: ProblemItem[] = [];
  for (const fault of faults) {
    if (reported.length === MAX_FAULTS) {
      return new ProblemError(validationFailed.definition, {
        detail: `More than ${MAX_FAULTS} values in the request are invalid. errors lists the first ${MAX_FAULTS}.`,
        errors: reported,
      });
    }
    reported.push(fault);
  }
  return validationFailed(reported);
}

/** Returns the JSON pointer (RFC 6901) to a field of `parent`. */
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
