import type { NextFunction, Request, Response } from 'express';
import { malformedRequest, unsupportedMediaType } from '../errors';
import { pointerTo, toValidationError, unknownField } from './faults';
import { FREE_FORM_FIELD } from './free-form';

/** Maximum nesting of JSON values. No valid request is deeper, and recursive functions can handle this depth. */
const MAX_DEPTH = 32;

/** Maximum length of a list. The longest valid list is a batch of usage events. */
const MAX_ITEMS = 1_000;
const MAX_KEYS = 1_000;

/** Maximum number of objects and lists in a body. It is limited, because each of them is validated. */
const MAX_CONTAINERS = 10_000;

interface BodyPlace {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
  /** True inside the field `metadata`, whose keys the client chooses. */
  readonly isFreeForm: boolean;
}

interface Fault {
  readonly code: string;
  readonly message: string;
}

/**
 * Refuses these bodies:
 * - a body that is not a JSON object, or has a field named like an inherited property ({@link isInherited});
 * - JSON that could not be returned as it was sent: numbers beyond +-(2^53-1), infinite numbers (`1e309`), negative
 *   zero, text with NUL bytes or lone surrogates, and `__proto__` as a key;
 * - a body that is nested too deep, or has too many list items, keys, lists or objects, because validation takes more
 *   than linear time.
 */
export function guardBody(request: Request, _response: Response, next: NextFunction): void {
  if (request.body === undefined) {
    if (hasBody(request)) {
      next(unsupportedMediaType('Only application/json is read.'));
      return;
    }
    request.body = {};
  } else if (!isPlainObject(request.body)) {
    next(malformedRequest('The body must be a JSON object.'));
    return;
  }
  const fault = firstFault(request.body);
  next(fault === null ? undefined : toValidationError([fault]));
}

/** Returns true if the headers announce a body, even an empty one. */
export function announcesBody({ headers }: Request): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Returns the `Content-Length` of the body in bytes; null if the request has none. It counts compressed bytes. */
export function announcedBytes({ headers }: Request): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/** Returns false if the headers announce no body, or a body of 0 bytes. */
export function hasBody(request: Pick<Request, 'headers'>): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstFault(body: unknown): (Fault & { readonly pointer: string }) | null {
  const open: BodyPlace[] = [{ value: body, pointer: '', depth: 0, isFreeForm: false }];
  let containers = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const fault = faultOf(place);
    if (fault !== null) return { pointer: place.pointer, ...fault };
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    containers += 1;
    if (containers > MAX_CONTAINERS) {
      return {
        pointer: '',
        code: 'too_many_values',
        message: `holds more than ${MAX_CONTAINERS} objects and lists`,
      };
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === '__proto__' || !isStorable(key)) {
        return {
          pointer: place.pointer,
          code: 'forbidden_key',
          message: 'holds a key that is not allowed',
        };
      }
      if (!place.isFreeForm && isInherited(key)) return unknownField(key, place.pointer);
      const isFreeForm = place.isFreeForm || (place.pointer === '' && key === FREE_FORM_FIELD);
      open.push({
        value: child,
        pointer: pointerTo(key, place.pointer),
        depth: place.depth + 1,
        isFreeForm,
      });
    }
  }
  return null;
}

function faultOf({ value, depth }: BodyPlace): Fault | null {
  if (depth > MAX_DEPTH)
    return { code: 'too_deep', message: `is nested deeper than ${MAX_DEPTH} levels` };
  if (typeof value === 'string' && !isStorable(value)) {
    return { code: 'unstorable_text', message: 'holds a NUL byte or a lone surrogate' };
  }
  if (typeof value === 'number' && !isLosslessNumber(value)) {
    return {
      code: 'number_out_of_range',
      message: 'is a number that cannot be kept exactly: beyond 2^53-1, infinite or negative zero',
    };
  }
  return faultOfSize(value);
}

function isLosslessNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Object.is(value, -0);
}

function faultOfSize(value: unknown): Fault | null {
  if (Array.isArray(value)) {
    return value.length > MAX_ITEMS
      ? { code: 'too_many_items', message: `holds more than ${MAX_ITEMS} items` }
      : null;
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length <= MAX_KEYS) {
    return null;
  }
  return { code: 'too_many_keys', message: `holds more than ${MAX_KEYS} keys` };
}

/**
 * Returns true for names that every object or class inherits, such as `constructor`. No API field has such a name. The
 * check for unknown fields misses these names, because it takes an inherited property for a known field. Nest also
 * deletes some of these fields before that check.
 */
export function isInherited(name: string): boolean {
  return name === 'prototype' || name in Object.prototype;
}

/** Returns false for NUL bytes, which PostgreSQL cannot store, and for lone surrogates, which UTF-8 cannot encode. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * Returns true if a JSON value can be returned as it was sent, by the rules of {@link guardBody}. Returns false for a
 * value that is nested too deep. Each value lowers `left.values` by 1; below zero, the result is false.
 */
export function isLosslessJson(value: unknown, left: { values: number }, depth = 0): boolean {
  left.values -= 1;
  if (depth > MAX_DEPTH || left.values < 0) return false;
  switch (typeof value) {
    case 'string':
      return isStorable(value);
    case 'number':
      return isLosslessNumber(value);
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every((item) => isLosslessJson(item, left, depth + 1));
      const keys = Object.keys(value);
      if (keys.length > left.values) return false;
      for (const key of keys) {
        if (key === '__proto__' || !isStorable(key)) return false;
        if (!isLosslessJson(Reflect.get(value, key), left, depth + 1)) return false;
      }
      return true;
    }
    default:
      return true;
  }
}
