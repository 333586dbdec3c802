import type { Request, RequestHandler } from 'express';
import { Credentials } from './modules/access';
import { AuditUsageCounts } from './modules/audit';
import { isConsumeRequest } from './modules/entitlements';
import { isUsageRequest } from './modules/metering';
import { isProviderWebhook } from './modules/payments';
import { isOpenIdCallback, SessionVerifier } from './modules/sessions';
import { digitsByCode } from './core/money';
import { SAFE_METHODS } from './core/safe-methods';
import { isApiDescriptionPath, isDocsPath, publishDocs } from './openapi';
import {
  actAsCaller,
  admitEveryone,
  authenticate,
  identifyAfterBody,
  principalOf,
  publicRoutes,
  TLS_ONLY,
} from './platform/access';
import { Configuration } from './platform/config';
import { notForCustomerToken } from './platform/errors';
import {
  announcedBytes,
  announcesBody,
  useFastJson,
  catchUnroutable,
  guardBody,
  guardLoopback,
  guardUrl,
  prepareIfNoneMatch,
  composeMiddleware,
  encodingOf,
  endUnreadBodies,
  isJson,
  limitBodiesInFlight,
  readBytes,
  readJson,
  refuseUnreadable,
  removeParsers,
  requireReadEncoding,
  routeExactly,
  securityHeaders,
  withinBodyTime,
} from './platform/http';
import { requestLog } from './platform/logging';
import { Lifecycle, Metrics } from './platform/observability';
import { ClockCheck } from './platform/processes';
import { limitRequests, RateLimits } from './platform/rate-limits';
import { enterRequestSpan, startRequestSpan } from './platform/tracing';
import type { HttpApplication } from './http-application';
import { isStudioPath, serveStudio, STUDIO_DIRECTORY } from './studio-pages';

/**
 * Time for which an idle connection stays open, in milliseconds. Load balancers keep idle connections for 60 s. With a
 * shorter time here, a load balancer could send a request on a connection that this process has just closed.
 */
const KEEP_ALIVE_MS = 65_000;
/**
 * Time limit for the headers of a request, in milliseconds. It is longer than {@link KEEP_ALIVE_MS}, because Node
 * applies this limit to idle connections too.
 */
const HEADERS_MS = 70_000;
/** Time without any traffic after which a connection is closed, for example if its client disappeared. */
const SILENCE_MS = 3_600_000;
/** Time for which the body of an answered request may still arrive. */
const UNREAD_BODY_MS = 300_000;
const LARGEST_BODY_BYTES = 2 ** 20;
/** Maximum body of a caller without a credential: enough for a sign-in, the only JSON that such a caller sends. */
const LARGEST_ANONYMOUS_BODY_BYTES = 2 ** 14;
/** Maximum body of a usage report: enough for a thousand usage events with all properties. */
const LARGEST_USAGE_BODY_BYTES = 20 * 2 ** 20;
/**
 * Memory, in bytes, to reserve for an NDJSON body. The body is read in chunks. It needs at most 2 MiB for two
 * unfinished lines, and 1 MiB for lines that wait to be stored.
 */
const NDJSON_BYTES_IN_MEMORY = 3 * 2 ** 20;

/** Configures everything between socket and controllers. Call it before Nest registers the routes. */
export function configureHttp(app: HttpApplication): void {
  const { express, server, logger } = app;
  express.set('etag', false);
  express.set('query parser', 'simple');
  express.disable('x-powered-by');
  const { trustedProxies, openId } = app.get(Configuration);
  express.set('trust proxy', trustedProxies);
  express.set(TLS_ONLY, openId !== null && new URL(openId.redirectUrl).protocol === 'https:');
  routeExactly(express);
  removeParsers(express);
  useFastJson(express);
  catchUnroutable(server);
  refuseUnreadable(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_MS;
  // Switches off Node's time limit for bodies. It would end every body after five minutes, even a body that arrives
  // fast enough or waits for this process. The readers of bodies and `endUnreadBodies` limit the time of bodies
  // instead.
  server.requestTimeout = 0;
  server.timeout = SILENCE_MS;
  const lifecycle = app.get(Lifecycle);
  // When the process stops, closes the connections of requests in flight soon after their responses.
  lifecycle.stopping.addEventListener('abort', () => {
    server.keepAliveTimeout = 1;
  });
  express.use(
    composeMiddleware(
      startRequestSpan,
      endUnreadBodies(UNREAD_BODY_MS),
      requestLog(logger),
      app.get(Metrics).measure,
      lifecycle.closeWhenDraining,
      securityHeaders((request) => isDocsPath(request) || isStudioPath(request)),
      guardUrl,
      ...(app.get(Configuration).isOpenOnLoopbackOnly ? [guardLoopback] : []),
      prepareIfNoneMatch,
      studio(app.get(Configuration)),
      refuseChangesAtWrongTime(app.get(ClockCheck)),
      limitCaller(app),
      refuseTokenChanges,
      bodyReader(lifecycle),
      identifyAfterBody,
      app.get(AuditUsageCounts).count(isCounted),
      actAsCaller(isCounted, isOpenIdCallback),
      enterRequestSpan,
    ),
  );
  publishDocs(express, app.asSwaggerNeeds(), app.get(Configuration).auth);
}

/** Serves the console. Its files are public, because only the API gives access to data. */
function studio({ auth, openId }: Configuration): RequestHandler {
  const settings = { auth, openIdConnect: openId !== null, currencyDigits: digitsByCode };
  return serveStudio(STUDIO_DIRECTORY, settings);
}

/** Returns middleware that identifies the caller, and refuses a caller that has used up its requests per minute. */
function limitCaller(app: HttpApplication): RequestHandler {
  const identify = identifyCaller(app);
  const { auth, rateLimits } = app.get(Configuration);
  const { perCaller, usagePerCaller, perAddress } = rateLimits;
  const isOff = [perCaller, usagePerCaller, perAddress].every((limit) => limit === 0);
  // With authentication, an API key may have its own limit even if all settings are 0.
  if (auth === 'open' && isOff) return identify;
  return limitRequests(identify, rateLimits, { counts: app.get(RateLimits), isUsage: isCounted });
}

/**
 * Returns middleware that identifies the caller.
 *
 * @throws {Error} if a route does not declare who may call it; the service then does not start
 */
function identifyCaller(app: HttpApplication): RequestHandler {
  const routes = publicRoutes(app.modules);
  const { auth, publicDocs } = app.get(Configuration);
  if (auth === 'open') return admitEveryone;
  const isPublic = (request: Request): boolean =>
    (publicDocs && isApiDescriptionPath(request)) ||
    routes.has(`${request.method === 'HEAD' ? 'GET' : request.method} ${request.path}`);
  return authenticate(isPublic, {
    credential: app.get(Credentials).verify,
    session: app.get(SessionVerifier).verify,
  });
}

/**
 * Returns true for requests that report usage or consume entitlements. The audit log counts them by caller and hour,
 * because one entry per request would be too many.
 */
function isCounted(request: Request): boolean {
  return isUsageRequest(request) || isConsumeRequest(request);
}

/** Refuses changes by customer tokens before reading their bodies, because no operation allows such changes. */
const refuseTokenChanges: RequestHandler = (request, _response, next) => {
  const { kind } = principalOf(request);
  const isRefused = kind === 'customer_token' && !SAFE_METHODS.has(request.method);
  next(isRefused ? notForCustomerToken() : undefined);
};

/**
 * Returns middleware that refuses changes while the clock of this process is wrong. Otherwise changes would be dated by
 * the wrong clock, and would find keys, grants and sessions expired. It comes before the caller is identified, because
 * this needs the time. The last GET of a sign-in with OpenID Connect also counts as a change.
 */
function refuseChangesAtWrongTime(clockCheck: ClockCheck): RequestHandler {
  return (request, _response, next) => {
    if (SAFE_METHODS.has(request.method) && !isOpenIdCallback(request)) next();
    else if (clockCheck.isRight) next();
    else clockCheck.waitUntilRight().then(() => next(), next);
  };
}

/**
 * Returns middleware that parses JSON bodies. The body of a provider webhook stays bytes. The route handler reads an
 * NDJSON body. A request without a body gets an empty object.
 */
function bodyReader(lifecycle: Lifecycle): RequestHandler {
  const readJsonUpTo = (bytes: number) => lifecycle.refuseBodiesOnStop(readJson(bytes));
  const readUpTo = (bytes: number) => composeMiddleware(readJsonUpTo(bytes), guardBody);
  const read = readUpTo(LARGEST_BODY_BYTES);
  const readAnonymous = readUpTo(LARGEST_ANONYMOUS_BODY_BYTES);
  // Batches of usage are checked item by item, because an invalid item does not invalidate the others.
  const readUsage = readJsonUpTo(LARGEST_USAGE_BODY_BYTES);
  // The signature of a provider webhook covers the bytes of the body, so the body is not parsed.
  const readWebhook = lifecycle.refuseBodiesOnStop(readBytes(LARGEST_BODY_BYTES));
  const parse: RequestHandler = (request, response, next) => {
    if (isProviderWebhook(request)) readWebhook(request, response, next);
    else if (isUsageRequest(request)) readUsage(request, response, next);
    else if (isAnonymous(request)) readAnonymous(request, response, next);
    else read(request, response, next);
  };
  const readBody = composeMiddleware(
    requireReadEncoding,
    limitBodiesInFlight(bytesToReserve),
    withinBodyTime(parse),
  );
  return (request, response, next) => {
    const isRead = takesBody(request) && announcesBody(request);
    if (isRead || isUsageRequest(request)) readBody(request, response, next);
    else {
      request.body = {};
      next();
    }
  };
}

/** Returns false for methods that take no body. The body of such a request is not read. */
function takesBody({ method }: Request): boolean {
  return !SAFE_METHODS.has(method) && method !== 'DELETE';
}

function isAnonymous(request: Request): boolean {
  return principalOf(request).kind === 'anonymous';
}

/** Returns the maximum number of bytes of the body after decompression. */
function largestBody(request: Request): number {
  if (isUsageRequest(request)) return LARGEST_USAGE_BODY_BYTES;
  return isAnonymous(request) && !isProviderWebhook(request)
    ? LARGEST_ANONYMOUS_BODY_BYTES
    : LARGEST_BODY_BYTES;
}

/**
 * Returns the number of bytes of memory to reserve before the body is read. An NDJSON body needs at most
 * {@link NDJSON_BYTES_IN_MEMORY}. Returns 0 for any other body of unknown size, because memory for it is reserved while
 * it is read.
 */
function bytesToReserve(request: Request): number {
  const announced = encodingOf(request) === null ? announcedBytes(request) : null;
  const isNdjson = isUsageRequest(request) && !isJson(request);
  if (isNdjson) return Math.min(announced ?? Infinity, NDJSON_BYTES_IN_MEMORY);
  return Math.min(announced ?? 0, largestBody(request));
}
