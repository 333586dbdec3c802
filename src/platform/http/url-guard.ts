import type { IncomingMessage, Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { malformedRequest } from '../errors';
import { isInherited, isStorable } from './body-guard';
import { refusalOf, unknownField } from './faults';

/** Requests whose target is no path, no URL of http and not `*`. */
const unreadable = new WeakSet<IncomingMessage>();

/**
 * Express calls no middleware for a target that it cannot parse (`http://[/v1`), and answers it in HTML. Such a request is
 * given a path that it can, so that it is logged, measured and named like any other, and `guardUrl` refuses it.
 */
export function catchUnreadableTargets(server: Server): void {
  server.prependListener('request', (request: IncomingMessage & { originalUrl?: string }) => {
    const target = request.url ?? '';
    if (isReadable(target)) return;
    unreadable.add(request);
    request.originalUrl = target;
    request.url = '/';
  });
}

function isReadable(target: string): boolean {
  if (target.startsWith('/') || target === '*') return true;
  return /^https?:\/\//i.test(target) && URL.canParse(target);
}

/**
 * Refuses a target that cannot be read, a query parameter given twice, where one of the two would have to be ignored,
 * one that bears the name of what every object has, and text that the database cannot keep.
 */
export function guardUrl(request: Request, _response: Response, next: NextFunction): void {
  if (unreadable.has(request)) {
    next(malformedRequest('The request target is neither a path nor a URL.'));
    return;
  }
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
    if (isInherited(name)) {
      next(refusalOf([unknownField(name)]));
      return;
    }
    seen.add(name);
  }
  next();
}
