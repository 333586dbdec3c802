import type { NextFunction, Request, Response } from 'express';
import { malformedRequest, unsupportedMediaType } from '../errors';
import { pointerTo, refusalOf, unknownField } from './faults';
import { FREE_FORM_FIELD } from './free-form';

/** Nothing the API takes is nested deeper; what walks a body may recurse safely below this. */
const DEEPEST = 32;

/** As long as the longest list the API takes, a batch of usage. */
const MOST_ITEMS = 1_000;
const MOST_KEYS = 1_000;

/** Lists in lists multiply, and each object in them is validated, whatever the length of the list around it. */
const MOST_CONTAINERS = 10_000;

interface Place {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
  /** Inside a free-form field, where keys are not names of fields. */
  readonly isFreeForm: boolean;
}

interface Fault {
  readonly code: string;
  readonly message: string;
}

/**
 * Refuses what JSON can spell but the engine could not give back as it was sent: numbers beyond +-(2^53-1), infinite
 * (`1e309`) or negative zero, text with NUL bytes or lone surrogates, keys that reach for a prototype, and depth, length
 * and width without end: what validates a body afterwards takes more than linear time. Runs on every parsed body, before
 * anything else reads it.
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
  next(fault === null ? undefined : refusalOf([fault]));
}

/** Whether the headers tell of a body, be it an empty one. */
export function announcesBody({ headers }: Request): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Whether a body was sent, whatever it holds. */
export function hasBody(request: Request): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstFault(body: unknown): (Fault & { readonly pointer: string }) | null {
  const open: Place[] = [{ value: body, pointer: '', depth: 0, isFreeForm: false }];
  let containers = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const fault = faultOf(place);
    if (fault !== null) return { pointer: place.pointer, ...fault };
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    containers += 1;
    if (containers > MOST_CONTAINERS) {
      return {
        pointer: '',
        code: 'too_many_values',
        message: `holds more than ${MOST_CONTAINERS} objects and lists`,
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

function faultOf({ value, depth }: Place): Fault | null {
  if (depth > DEEPEST)
    return { code: 'too_deep', message: `is nested deeper than ${DEEPEST} levels` };
  if (typeof value === 'string' && !isStorable(value)) {
    return { code: 'unstorable_text', message: 'holds a NUL byte or a lone surrogate' };
  }
  if (typeof value === 'number' && !isKeepableNumber(value)) {
    return {
      code: 'number_out_of_range',
      message: 'is a number that cannot be kept exactly: beyond 2^53-1, infinite or negative zero',
    };
  }
  return faultOfSize(value);
}

function isKeepableNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Object.is(value, -0);
}

function faultOfSize(value: unknown): Fault | null {
  if (Array.isArray(value)) {
    return value.length > MOST_ITEMS
      ? { code: 'too_many_items', message: `holds more than ${MOST_ITEMS} items` }
      : null;
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length <= MOST_KEYS) {
    return null;
  }
  return { code: 'too_many_keys', message: `holds more than ${MOST_KEYS} keys` };
}

/**
 * Whether every object or every class has it: no field of the API is called so, but the validation of unknown fields would
 * look it up on a plain object and find it, or never see it because Nest deletes it.
 */
export function isInherited(name: string): boolean {
  return name === 'prototype' || name in Object.prototype;
}

/** PostgreSQL keeps no NUL byte, and UTF-8 no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * Whether a value of JSON can be given back as it was sent, whatever its keys: the same that {@link guardBody} asks of a
 * body, but for its size.
 */
export function isKeepable(value: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return false;
  switch (typeof value) {
    case 'string':
      return isStorable(value);
    case 'number':
      return isKeepableNumber(value);
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every((item) => isKeepable(item, depth + 1));
      for (const key of Object.keys(value)) {
        if (key === '__proto__' || !isStorable(key)) return false;
        if (!isKeepable(Reflect.get(value, key), depth + 1)) return false;
      }
      return true;
    }
    default:
      return true;
  }
}
