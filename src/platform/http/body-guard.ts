import type { NextFunction, Request, Response } from 'express';
import { malformedRequest, unsupportedMediaType, validationFailed } from '../errors';

/** Nothing the API takes is nested deeper; what walks a body may recurse safely below this. */
const DEEPEST = 32;

interface Place {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
}

/**
 * Refuses what JSON can spell but the engine could not give back as it was sent: numbers beyond +-(2^53-1), infinite
 * (`1e309`) or negative zero, text with NUL bytes or lone surrogates, keys that reach for a prototype, and depth without
 * end. Runs on every parsed body, before anything else reads it.
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
  next(fault === null ? undefined : validationFailed([fault]));
}

function hasBody(request: Request): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstFault(body: unknown): { pointer: string; code: string; message: string } | null {
  const open: Place[] = [{ value: body, pointer: '', depth: 0 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const fault = faultOf(place);
    if (fault !== null) return { pointer: place.pointer, ...fault };
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const pointer = `${place.pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (key === '__proto__' || !isStorable(key)) {
        return {
          pointer: place.pointer,
          code: 'forbidden_key',
          message: 'holds a key that is not allowed',
        };
      }
      open.push({ value: child, pointer, depth: place.depth + 1 });
    }
  }
  return null;
}

function faultOf({ value, depth }: Place): { code: string; message: string } | null {
  if (depth > DEEPEST)
    return { code: 'too_deep', message: `is nested deeper than ${DEEPEST} levels` };
  if (typeof value === 'string' && !isStorable(value)) {
    return { code: 'unstorable_text', message: 'holds a NUL byte or a lone surrogate' };
  }
  if (
    typeof value === 'number' &&
    (Math.abs(value) > Number.MAX_SAFE_INTEGER || Object.is(value, -0))
  ) {
    return {
      code: 'number_out_of_range',
      message: 'is a number that cannot be kept exactly: beyond 2^53-1, infinite or negative zero',
    };
  }
  return null;
}

/** PostgreSQL keeps no NUL byte, and UTF-8 no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}
