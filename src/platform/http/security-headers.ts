import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import helmet, { type HelmetOptions } from 'helmet';

type Headers = ReadonlyMap<string, string>;

/**
 * Headers of the pages at /docs and /studio, which load everything from this service. Swagger UI sets inline styles and
 * has icons in data URLs. The content security policy omits `upgrade-insecure-requests`. The service answers plain HTTP
 * only, so with this directive the pages would be empty, except on loopback.
 */
const PAGE_HEADERS = {
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
  // The TLS proxy in front decides about Strict-Transport-Security, which can also bind other hosts.
  strictTransportSecurity: false,
} satisfies HelmetOptions;

/**
 * Headers of answers that are not pages. Browsers then keep to the declared media type, execute and frame nothing, and
 * let no other site read the answer. These answers do not get the other headers of pages, which would take 5 % of the
 * time of a usage request.
 */
export const DATA_HEADERS: Headers = new Map([
  // Otherwise a cache between browser and service may store data that an admin reads with a session cookie.
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none';base-uri 'none';frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
]);

export function securityHeaders(isPage: (request: Request) => boolean) {
  const ofPages = headersOfPages();
  return (request: Request, response: Response, next: NextFunction): void => {
    const headers = isPage(request) ? ofPages : DATA_HEADERS;
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** Returns the headers that helmet sets on pages, so that they need not be computed for each answer. */
function headersOfPages(): Headers {
  const headers = new Map<string, string>();
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  response.setHeader = (name, value) => {
    headers.set(name, String(value));
    return response;
  };
  helmet(PAGE_HEADERS)(request, response, (error) => {
    if (error !== undefined) throw new Error('No headers were set.', { cause: error });
  });
  return headers;
}
