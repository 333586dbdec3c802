import { Ajv, type ErrorObject } from 'ajv';
import { invalidRequest, type Refusal } from './errors';
import { type FormValue } from './form';
import { type OperationName, type RequestParameters } from './parameters';
import schemas from './request-schemas.json';

const ajv = new Ajv({ coerceTypes: true, verbose: true });
ajv.addKeyword({
  keyword: 'implemented',
  schemaType: 'boolean',
  validate: (implemented: boolean) => implemented,
});
const validators = Object.fromEntries(
  Object.entries(schemas).map(([operation, schema]) => [operation, ajv.compile(schema)]),
) as Record<OperationName, ReturnType<typeof ajv.compile>>;

/**
 * Converts the texts of numbers and booleans in the parameters to numbers and booleans.
 *
 * @throws Refusal (400), as Stripe sends it, for an unknown or missing parameter, or a wrong value.
 */
export function checkParameters<Name extends OperationName>(
  operation: Name,
  form: Record<string, FormValue>,
): RequestParameters[Name] {
  const validate = validators[operation];
  if (!validate(form)) throw refusal(operation, validate.errors ?? []);
  return form as RequestParameters[Name];
}

function refusal(operation: string, errors: readonly ErrorObject[]): Refusal {
  // If several forms are possible, the last error says only that none fitted, so the error about the union is used.
  const union = errors.findLast(({ keyword }) => keyword === 'anyOf');
  const error = union ?? errors[0];
  if (!error) throw new Error(`The parameters of ${operation} were refused without an error.`);
  const path = error.instancePath.split('/').slice(1);
  const param = bracketed(path);
  const value = typeof error.data === 'string' ? error.data : JSON.stringify(error.data);
  switch (error.keyword) {
    case 'additionalProperties': {
      const unknown = bracketed([...path, String(error.params['additionalProperty'])]);
      return invalidRequest(`Received unknown parameter: ${unknown}`, {
        code: 'parameter_unknown',
        param: unknown,
      });
    }
    case 'required': {
      const missing = bracketed([...path, String(error.params['missingProperty'])]);
      return invalidRequest(`Missing required param: ${missing}.`, {
        code: 'parameter_missing',
        param: missing,
      });
    }
    case 'implemented':
      return invalidRequest(
        `The test double of Stripe does not implement the parameter ${param} of ${operation}.`,
        { param },
      );
    case 'enum': {
      const allowed = (error.params['allowedValues'] as string[]).join(', ');
      return invalidRequest(`Invalid ${param}: must be one of ${allowed}`, { param });
    }
    case 'type': {
      const type = String(error.params['type']);
      return invalidRequest(`Invalid ${type}: ${value}`, {
        param,
        ...(type === 'integer' && { code: 'parameter_invalid_integer' }),
      });
    }
    default:
      return invalidRequest(`Invalid ${param}: ${value} (${error.message ?? error.keyword})`, {
        param,
      });
  }
}

function bracketed(path: readonly string[]): string {
  const [first = '', ...rest] = path;
  return first + rest.map((name) => `[${name}]`).join('');
}
