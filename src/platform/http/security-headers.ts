import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import helmet, { type HelmetOptions } from 'helmet';

type Headers = ReadonlyMap<string, string>;

/**
 * What the page at /docs needs, from this service alone; Swagger UI sets styles in its elements and has its icons in data
 * URLs. Never `upgrade-insecure-requests`: the service speaks plain http, and beyond loopback the page would stay empty.
 */
const OF_PAGES = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  // Whoever puts TLS in front decides about Strict-Transport-Security: it would bind other hosts too.
  strictTransportSecurity: false,
} satisfies HelmetOptions;

/**
 * What browsers heed of an answer that is no page: it is of the type it says, nothing of it runs or is framed, and no other
 * site reads it. The others of a page would cost a twentieth of a report of usage.
 */
const OF_DATA: Headers = new Map([
  ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
]);

/** Middleware: the headers that keep browsers in check, on every answer the same but for pages. */
export function securityHeaders(isPage: (request: Request) => boolean) {
  const ofPages = headersOfPages();
  return (request: Request, response: Response, next: NextFunction): void => {
    const headers = isPage(request) ? ofPages : OF_DATA;
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** Asked once, and not for every answer. */
function headersOfPages(): Headers {
  const headers = new Map<string, string>();
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  response.setHeader = (name, value) => {
    headers.set(name, String(value));
    return response;
  };
  helmet(OF_PAGES)(request, response, (error) => {
    if (error !== undefined) throw new Error('No headers were set.', { cause: error });
  });
  return headers;
}
