import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';

/** Options of the decorators in this file, each of which documents one kind of answer field. */
interface PropertyOptions {
  readonly nullable?: true;
  /** The field is absent in some responses. */
  readonly optional?: true;
}

interface ExampleOptions extends PropertyOptions {
  readonly example?: string | null;
}

interface NestedOptions extends PropertyOptions {
  readonly example?: null;
}

function property(
  schema: ApiPropertyOptions,
  description: string,
  example: unknown,
  { nullable, optional }: PropertyOptions = {},
): PropertyDecorator {
  const decorate = optional === true ? ApiPropertyOptional : ApiProperty;
  return decorate({
    ...schema,
    ...(nullable === true && { nullable }),
    description,
    ...(example !== undefined && { example }),
  });
}

export function TextProperty(
  description: string,
  example?: string | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ type: String }, description, example, options);
}

/** A whole number, such as an amount in minor units. */
export function IntegerProperty(
  description: string,
  example?: number | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ type: 'integer' }, description, example, options);
}

export function BooleanProperty(
  description: string,
  example?: boolean | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ type: Boolean }, description, example, options);
}

export function EnumProperty(
  values: readonly (string | boolean)[],
  description: string,
  example: string | boolean | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ enum: [...values] }, description, example, options);
}

export function InstantProperty(
  description: string,
  { example = '2026-03-01T09:30:00.000Z', ...options }: ExampleOptions = {},
): PropertyDecorator {
  return property({ type: String, format: 'date-time' }, description, example, options);
}

export function TextListProperty(
  description: string,
  example: readonly string[],
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ type: [String] }, description, example, options);
}

export function NestedProperty(
  dto: Type<unknown>,
  description: string,
  { example, ...options }: NestedOptions = {},
): PropertyDecorator {
  return property({ type: dto }, description, example, options);
}

export function NestedListProperty(
  dto: Type<unknown>,
  description: string,
  { example, ...options }: NestedOptions = {},
): PropertyDecorator {
  return property({ type: [dto] }, description, example, options);
}

export function MapProperty(
  description: string,
  example: Readonly<Record<string, unknown>>,
  options?: PropertyOptions,
): PropertyDecorator {
  return property({ type: 'object', additionalProperties: true }, description, example, options);
}

export function MetadataProperty(): PropertyDecorator {
  const description = 'Free-form map, as it was sent; key order is not kept.';
  return MapProperty(description, METADATA_EXAMPLE);
}

export const METADATA_EXAMPLE = { crm_id: 'A-1042' };

export function IdProperty(example: string): PropertyDecorator {
  return TextProperty('Identifier.', example);
}

export function ActorProperty(
  description: string,
  { example = 'key_01h455vb4pex5vsknk084sn02q', ...options }: ExampleOptions = {},
): PropertyDecorator {
  const unknown = options.nullable === true ? ' Null if it was not recorded.' : '';
  return TextProperty(
    `${description}: the id of an API key, an admin or a customer token, \`open\` for a call without a credential, or \`worker\` for the engine itself.${unknown}`,
    example,
    options,
  );
}

/** Field with a constant value, by which clients distinguish the types of objects that an operation returns. */
export function ObjectProperty(value: string): PropertyDecorator {
  return EnumProperty([value], 'The type of the object.', value);
}
