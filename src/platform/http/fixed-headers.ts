import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';

/** Sets headers that are the same on every answer. */
export type HeadersMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** The same as the middleware given, but asks it once what it sets, and not for every answer. */
export function fixedHeaders(middleware: HeadersMiddleware) {
  const headers = headersSetBy(middleware);
  return (_request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

function headersSetBy(middleware: HeadersMiddleware): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  response.setHeader = (name, value) => {
    headers.set(name, String(value));
    return response;
  };
  middleware(request, response, (error) => {
    if (error !== undefined) throw new Error('No headers were set.', { cause: error });
  });
  return headers;
}
