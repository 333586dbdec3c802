import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import type { ProblemError, ProblemItem } from '../errors';
import { pointerTo, refusalOf, unknownField } from './faults';

/** Only fields a DTO declares, of the type it declares, with no conversion from one type to another. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors: ValidationError[]): ProblemError => refusalOf(faultsOf(errors, '')),
  });
}

const snakeCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

function* faultsOf(errors: readonly ValidationError[], parent: string): Generator<ProblemItem> {
  for (const { property, constraints, children } of errors) {
    const pointer = pointerTo(property, parent);
    for (const [constraint, message] of Object.entries(constraints ?? {})) {
      yield constraint === 'whitelistValidation'
        ? unknownField(property, parent)
        : { pointer, code: snakeCase(constraint), message };
    }
    yield* faultsOf(children ?? [], pointer);
  }
}
