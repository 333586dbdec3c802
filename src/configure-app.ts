import type { NestExpressApplication } from '@nestjs/platform-express';
import { json, type Request, type RequestHandler } from 'express';
import helmet, { type HelmetOptions } from 'helmet';
import type { Logger } from 'pino';
import { isUsageRequest } from './modules/metering';
import { publishDocs } from './openapi';
import {
  catchUnreadableTargets,
  createValidationPipe,
  guardBody,
  guardUrl,
  ProblemFilter,
  readAsciiAsUtf8,
  requireUtf8,
} from './platform/http';
import { requestLog } from './platform/logging';
import { Lifecycle, Metrics } from './platform/observability';

const LARGEST_BODY = '1mb';
/** A thousand events of usage with all the properties they may have. */
const LARGEST_USAGE_BODY = '20mb';

/**
 * What the page at /docs needs, from this service alone; Swagger UI sets styles in its elements and has its icons in data
 * URLs. Never `upgrade-insecure-requests`: the service speaks plain http, and beyond loopback the page would stay empty.
 */
const CONTENT_SECURITY_POLICY = {
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
} satisfies HelmetOptions['contentSecurityPolicy'];

/** Everything between the socket and the controllers, the same in `main.ts` and in the tests. */
export function configureApp(app: NestExpressApplication, logger: Logger): void {
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.disable('x-powered-by');
  routeExactly(app);
  catchUnreadableTargets(app.getHttpServer());
  app.use(requestLog(logger));
  app.use(app.get(Metrics).measure);
  app.use(app.get(Lifecycle).closeWhenDraining);
  // Whoever puts TLS in front decides about Strict-Transport-Security: it would bind other hosts too.
  app.use(
    helmet({ contentSecurityPolicy: CONTENT_SECURITY_POLICY, strictTransportSecurity: false }),
  );
  app.use(guardUrl);
  app.use(readAsciiAsUtf8);
  const [parse, parseUsage] = [jsonParser(LARGEST_BODY), jsonParser(LARGEST_USAGE_BODY)];
  app.use(either(isUsageRequest, parseUsage, parse));
  // A batch of usage is taken item by item: what is wrong with one says nothing against the others.
  app.use(either(isUsageRequest, pass, guardBody));
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  publishDocs(app);
}

function jsonParser(limit: string): RequestHandler {
  return json({ limit, type: 'application/json', strict: false, verify: requireUtf8 });
}

function either(
  condition: (request: Request) => boolean,
  ifSo: RequestHandler,
  ifNot: RequestHandler,
): RequestHandler {
  return (request, response, next) => (condition(request) ? ifSo : ifNot)(request, response, next);
}

const pass: RequestHandler = (_request, _response, next) => next();

/**
 * One path for each resource: another spelling of it would be another request to the idempotency keys. Set on the router
 * itself, which exists since Nest made its adapter: the settings of the application are read only when it is made.
 */
function routeExactly(app: NestExpressApplication): void {
  const { router } = app.getHttpAdapter().getInstance();
  Object.assign(router, { strict: true, caseSensitive: true });
}
