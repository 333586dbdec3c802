import 'reflect-metadata';
import type { Type } from '@nestjs/common';

/** Metadata keys of @nestjs/swagger: names of the documented fields of a class, and options of a field. */
const PROPERTY_NAMES = 'swagger/apiModelPropertiesArray';
const PROPERTY = 'swagger/apiModelProperties';

interface PropertyMetadata {
  readonly example?: unknown;
  readonly type?: unknown;
  readonly isArray?: boolean;
  readonly enum?: unknown;
}

/** Returns the names of the documented fields of a DTO class. Fields of the base class come first. */
export function propertyNamesOf(dto: Type<unknown>): readonly string[] {
  const tagged = (Reflect.getMetadata(PROPERTY_NAMES, dto.prototype as object) ??
    []) as readonly string[];
  return tagged.map((name) => name.replace(/^:/, ''));
}

/** Returns the names of the documented fields that are neither objects nor lists. */
export function scalarNamesOf(dto: Type<unknown>): readonly string[] {
  const scalars: ReadonlySet<unknown> = new Set([String, Number, Boolean, 'string', 'integer']);
  return propertyNamesOf(dto).filter((name) => {
    const metadata = Reflect.getMetadata(
      PROPERTY,
      dto.prototype as object,
      name,
    ) as PropertyMetadata;
    const { type, isArray, enum: values } = metadata;
    return isArray !== true && (values !== undefined || scalars.has(type));
  });
}

export function exampleOf(dto: Type<unknown>): Readonly<Record<string, unknown>> {
  const prototype = dto.prototype as object;
  return Object.fromEntries(
    propertyNamesOf(dto).map((name) => {
      const metadata = Reflect.getMetadata(PROPERTY, prototype, name) as PropertyMetadata;
      return [name, exampleOfProperty(metadata)];
    }),
  );
}

function exampleOfProperty({ example, type, isArray }: PropertyMetadata): unknown {
  if (example !== undefined) return example;
  if (typeof type !== 'function' || type === String || type === Number || type === Object) {
    return null;
  }
  const nested = exampleOf(type as Type<unknown>);
  return isArray === true ? [nested] : nested;
}
