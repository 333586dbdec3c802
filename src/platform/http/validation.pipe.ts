import { type ArgumentMetadata, type PipeTransform, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import type { ProblemError, ProblemItem } from '../errors';
import { pointerTo, toValidationError, unknownField } from './faults';
import { FREE_FORM_FIELD, FreeForm } from './free-form';

/**
 * A DTO class with its own validation function, which takes a fiftieth of the time of the decorators. A body that
 * passes `isValid` is valid. Any other body is validated by the decorators, because they name its faults.
 */
interface TestedDto {
  isValid(body: unknown): boolean;
}

function isValid({ type, metatype }: ArgumentMetadata, value: unknown): boolean {
  return (
    type === 'body' &&
    metatype !== undefined &&
    'isValid' in metatype &&
    (metatype as unknown as TestedDto).isValid(value)
  );
}

class FieldsPipe implements PipeTransform {
  constructor(private readonly fields: ValidationPipe) {}

  transform(value: unknown, argument: ArgumentMetadata): unknown {
    // A text in the path has no fields to validate. Skipping its validation saves two promises.
    if (argument.type === 'param' && argument.metatype === String) return value;
    if (isValid(argument, value)) return value;
    const isFreeForm =
      argument.type === 'body' &&
      typeof value === 'object' &&
      value !== null &&
      Object.hasOwn(value, FREE_FORM_FIELD);
    if (!isFreeForm) return this.fields.transform(value, argument);
    const sent: unknown = Reflect.get(value, FREE_FORM_FIELD);
    return this.fields.transform({ ...value, [FREE_FORM_FIELD]: new FreeForm(sent) }, argument);
  }
}

/** Validates DTOs: only declared fields, of their declared types, without conversion. */
export function createValidationPipe(): PipeTransform {
  const fields = new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors: ValidationError[]): ProblemError =>
      toValidationError(faultsOf(errors, '')),
  });
  return new FieldsPipe(fields);
}

type Violated = readonly [constraint: string, message: string];

/**
 * Returns the one rule to report for a missing field, which violates all its rules. This is the rule about its type:
 * - `isArray` for a list, whose other rules with `is` are about the items;
 * - otherwise the first rule whose name begins with `is`;
 * - otherwise the first rule.
 */
function ruleOfType(violated: readonly Violated[]): readonly Violated[] {
  const ofType =
    violated.find(([constraint]) => constraint === 'isArray') ??
    violated.find(([constraint]) => constraint.startsWith('is')) ??
    violated[0];
  return ofType === undefined ? [] : [ofType];
}

const snakeCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

function* faultsOf(errors: readonly ValidationError[], parent: string): Generator<ProblemItem> {
  for (const { property, value, constraints, children } of errors) {
    const pointer = pointerTo(property, parent);
    const violated = Object.entries(constraints ?? {});
    for (const [constraint, message] of value === undefined ? ruleOfType(violated) : violated) {
      yield constraint === 'whitelistValidation'
        ? unknownField(property, parent)
        : { pointer, code: snakeCase(constraint), message };
    }
    yield* faultsOf(children ?? [], pointer);
  }
}
