import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type ProblemError, type ProblemItem, validationFailed } from '../errors';

/** Only fields a DTO declares, of the type it declares, with no conversion from one type to another. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors: ValidationError[]): ProblemError =>
      validationFailed(errors.flatMap((error) => items(error, ''))),
  });
}

const snakeCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

function items(error: ValidationError, parent: string): readonly ProblemItem[] {
  const pointer = `${parent}/${error.property.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const own = Object.entries(error.constraints ?? {}).map(([constraint, message]) =>
    constraint === 'whitelistValidation'
      ? { pointer, code: 'unknown_field', message: 'is not a field of this request' }
      : { pointer, code: snakeCase(constraint), message },
  );
  return [...own, ...(error.children ?? []).flatMap((child) => items(child, pointer))];
}
