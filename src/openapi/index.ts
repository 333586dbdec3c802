import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Express, Request } from 'express';
import { type SECURITY_SCHEMES, SESSION_COOKIE } from '../platform/access';
import type { Configuration } from '../platform/config';
import { allEvents } from '../platform/outbox';
import { compressedText } from './compressed-text';
import { CSRF_SCHEME, requireCsrfToken } from './csrf';
import { describeDefaults } from './defaults';
import { operationsOf } from './operations';
import { markOptionalBodies } from './optional-bodies';
import { describePathParameters } from './path-parameters';
import { addRequestExamples } from './request-examples';
import { addResponseHeaders } from './response-headers';
import { shareParameters } from './shared-parameters';
import { shareProblems } from './shared-problems';
import { swaggerUiScript } from './swagger-ui';
import { describeTags } from './tags';
import { addWebhooks } from './webhooks';

const DESCRIPTION = `Subscriptions, invoicing, usage metering, entitlements, coupons, payments and refunds, webhooks.

Amounts are whole minor units beside an ISO 4217 \`currency\` (1099 USD is 10.99). Timestamps are RFC 3339, in
answers in UTC, of the years 1 to 9999, without leap seconds. Lists are paged with \`limit\` and \`cursor\`, newest first.
Every POST takes an \`Idempotency-Key\`, except sign-ins, second factors, price simulations and webhooks of payment
providers; usage events have keys of their own. Errors are
\`application/problem+json\` (RFC 9457) with a stable \`code\`. Every answer has an \`X-Request-Id\`; if requests are limited,
\`RateLimit\` and \`RateLimit-Policy\` as well. CSV and PDF files have a \`Content-Disposition\`. Any request may get
408, 417 or 431.

With \`AUTH=required\`, every operation with \`x-required-scope\` needs a credential with this scope. With
\`AUTH=open\`, the default on loopback, none is needed.`;

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key or a customer token. Needed with `AUTH=required`.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'An API key or a customer token as the user name; the password is ignored.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session of a studio admin, which `POST /v1/session` begins. A browser keeps and sends the cookie itself: on this page, ' +
      'sign in with that operation and leave this empty. Changes also need `csrf`.',
  },
  [CSRF_SCHEME]: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The `csrf_token` that `POST /v1/session` and `GET /v1/session` answer.',
  },
} as const satisfies Record<(typeof SECURITY_SCHEMES)[number] | typeof CSRF_SCHEME, object>;

export function createOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Billing engine')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The service that shows this');
  for (const [name, scheme] of Object.entries(SECURITY)) builder.addSecurity(name, scheme);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
    // Adds the classes of the data of all events, because some of these classes are in no response of an operation.
    extraModels: allEvents().map(({ dto }) => dto),
  });
  describePathParameters(document);
  describeDefaults(document);
  addRequestExamples(document);
  markOptionalBodies(document);
  requireCsrfToken(document);
  shareProblems(document);
  addResponseHeaders(document);
  shareParameters(document);
  describeTags(document);
  addWebhooks(document);
  // Sorted, so that the document does not depend on which module has a route.
  document.paths = sorted(document.paths);
  for (const [path, item] of Object.entries(document.paths)) {
    document.paths[path] = sorted(item, (method) => String(METHOD_ORDER.indexOf(method)));
  }
  const { components = {} } = document;
  // Examples come before the responses, which have the same titles: gzip finds a repetition only within 32 kB.
  const { securitySchemes, headers, parameters } = components;
  document.components = {
    securitySchemes,
    headers,
    parameters,
    schemas: sorted(components.schemas ?? {}, besideItsObject),
    examples: sorted(components.examples ?? {}),
    responses: sorted(components.responses ?? {}),
  };
  return document;
}

const METHOD_ORDER: readonly string[] = ['post', 'get', 'put', 'patch', 'delete'];

/** Returns a sort key that puts `CreatePlanDto` beside `PlanDto`, because gzip finds repetitions only within 32 kB. */
const besideItsObject = (schema: string): string => schema.replace(/^(Create|Update)/, '');

/** @param rank returns the rank of a key; keys of the same rank are in alphabetical order */
function sorted<Fields extends object>(
  record: Fields,
  rank: (key: string) => string = (key) => key,
): Fields {
  const compare = (one: string, other: string): number =>
    rank(one) === rank(other) ? (one < other ? -1 : 1) : rank(one) < rank(other) ? -1 : 1;
  return Object.fromEntries(
    Object.entries(record).sort(([one], [other]) => compare(one, other)),
  ) as Fields;
}

export function isDocsPath({ url }: Pick<Request, 'url'>): boolean {
  return /^\/docs(?:[/?]|$)/.test(url);
}

const DESCRIPTION_PATHS: ReadonlySet<string> = new Set(['/', '/openapi.json']);

/** Returns true for the paths of Swagger UI, its files and the OpenAPI document. */
export function isApiDescriptionPath(request: Pick<Request, 'url' | 'path'>): boolean {
  return isDocsPath(request) || DESCRIPTION_PATHS.has(request.path);
}

function withoutSecurity(document: OpenAPIObject): OpenAPIObject {
  for (const { operation } of operationsOf(document.paths)) delete operation.security;
  return document;
}

/**
 * Publishes Swagger UI at /docs and the OpenAPI document at /openapi.json, and redirects / to /docs.
 * With `AUTH=open`, the document declares no security requirements, because no operation needs a credential.
 */
export function publishDocs(
  express: Express,
  app: INestApplication,
  auth: Configuration['auth'],
): void {
  const createDocument = (): OpenAPIObject => {
    const document = createOpenApiDocument(app);
    return auth === 'open' ? withoutSecurity(document) : document;
  };
  express.get('/', (_request, response) => {
    response.redirect('/docs');
  });
  // Registered before the routes of SwaggerModule, which would send this script uncompressed.
  express.get(
    '/docs/swagger-ui-init.js',
    compressedText('js', () => swaggerUiScript(createDocument())),
  );
  express.get(
    '/openapi.json',
    compressedText('json', () => JSON.stringify(createDocument())),
  );
  SwaggerModule.setup('docs', app, createDocument, {
    // SwaggerModule would make the text of the document again for each request. As YAML, this takes 0.2 s.
    raw: false,
    customSiteTitle: 'Billing engine',
  });
}
