import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { propertyNamesOf } from './example';
import { toWireAmount } from './wire';

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Type of a field before {@link toDto} converts it: a number can still be a bigint, and a text can be a Date. */
type ModelValue<Value> = Value extends number
  ? Value | bigint
  : Value extends string
    ? string extends Value
      ? string | Date
      : Value
    : Value;

/** Object that {@link toDto} converts. It has all fields of the DTO, with names in camelCase. */
export type ModelOf<Dto> = {
  readonly [Key in keyof Dto as CamelCase<Key>]: ModelValue<Dto[Key]>;
};

type Fields = readonly (readonly [wireName: string, modelName: string])[];

const fieldsOfClasses = new Map<Type<unknown>, Fields>();

function fieldsOf(dto: Type<unknown>): Fields {
  const known = fieldsOfClasses.get(dto);
  if (known !== undefined) return known;
  const names = propertyNamesOf(dto);
  // Inherited fields come first, but an answer begins with its id.
  const ordered = [
    ...names.filter((name) => name === 'id'),
    ...names.filter((name) => name !== 'id'),
  ];
  const fields = ordered.map((name): [string, string] => [
    name,
    name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  ]);
  fieldsOfClasses.set(dto, fields);
  return fields;
}

function toWireValue(value: unknown): unknown {
  if (typeof value === 'bigint') return toWireAmount(value);
  return typeof value === 'object' && value instanceof Date ? value.toISOString() : value;
}

/**
 * Converts an object to a DTO. Each field of the DTO gets the value of the field with the same name in camelCase. A
 * bigint becomes a JSON integer, and a Date becomes RFC 3339 text. Add computed or renamed values to the object:
 * `toDto(MeterDto, { ...meter, backfill })`. Other fields of the object are left out.
 */
export function toDto<Dto extends object>(dto: Type<Dto>, model: ModelOf<Dto>): Dto {
  const shown: Record<string, unknown> = {};
  for (const [wireName, modelName] of fieldsOf(dto)) {
    const value = (model as Readonly<Record<string, unknown>>)[modelName];
    if (value !== undefined) shown[wireName] = toWireValue(value);
  }
  return shown as Dto;
}

export const mapperTo =
  <Dto extends object>(dto: Type<Dto>) =>
  (model: ModelOf<Dto>): Dto =>
    toDto(dto, model);
