import type { IncomingMessage, Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { malformedRequest } from '../errors';
import { isInherited, isStorable } from './body-guard';
import { toValidationError, unknownField } from './faults';

/** Requests whose target is neither a path, nor an http URL, nor `*`. */
const unreadable = new WeakSet<IncomingMessage>();

/**
 * Replaces request targets that Express cannot parse (`http://[/v1`), because Express would skip all middleware and
 * answer in HTML. The request is then logged and measured like any other request, and refused by `guardUrl`.
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
 * Refuses unreadable request targets, repeated query parameters, query parameters with the name of an inherited
 * property (such as `constructor`), and text that the database cannot store.
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
      const shown = JSON.stringify(name);
      next(malformedRequest(`The query parameter ${shown} holds a NUL byte or a lone surrogate.`));
      return;
    }
    if (isInherited(name)) {
      next(toValidationError([unknownField(name)]));
      return;
    }
    seen.add(name);
  }
  next();
}
