import type { NextFunction, Request, Response } from 'express';
import { malformedRequest } from '../errors';
import { isStorable } from './body-guard';

/**
 * Refuses a query parameter given twice, where one of the two would have to be ignored, and text that the database
 * cannot keep, in the path as in the query.
 */
export function guardUrl(request: Request, _response: Response, next: NextFunction): void {
  const question = request.originalUrl.indexOf('?');
  if (question === -1) {
    next();
    return;
  }
  const parameters = new URLSearchParams(request.originalUrl.slice(question + 1));
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    if (seen.has(name)) {
      next(malformedRequest(`The query parameter ${JSON.stringify(name)} is given twice.`));
      return;
    }
    if (!isStorable(name) || !isStorable(value)) {
      next(malformedRequest('A query parameter holds a NUL byte or a lone surrogate.'));
      return;
    }
    seen.add(name);
  }
  next();
}
