import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Express, json, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { isUsageRequest } from './modules/metering';
import { isOfDocs, publishDocs } from './openapi';
import {
  announcesBody,
  answerJsonPlainly,
  catchUnreadableTargets,
  createValidationPipe,
  guardBody,
  guardUrl,
  inOneLayer,
  ProblemFilter,
  readAsciiAsUtf8,
  readPlainJson,
  requireUtf8,
  routeExactly,
  securityHeaders,
} from './platform/http';
import { requestLog } from './platform/logging';
import { Lifecycle, Metrics } from './platform/observability';

const LARGEST_BODY_BYTES = 2 ** 20;
/** A thousand events of usage with all the properties they may have. */
const LARGEST_USAGE_BODY_BYTES = 20 * 2 ** 20;

/** Everything between the socket and the controllers, the same in `main.ts` and in the tests. */
export function configureApp(app: NestExpressApplication, logger: Logger): void {
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.disable('x-powered-by');
  const express: Express = app.getHttpAdapter().getInstance();
  routeExactly(express);
  answerJsonPlainly(express);
  catchUnreadableTargets(app.getHttpServer());
  const lifecycle = app.get(Lifecycle);
  app.use(
    inOneLayer(
      requestLog(logger),
      app.get(Metrics).measure,
      lifecycle.closeWhenDraining,
      securityHeaders(isOfDocs),
      guardUrl,
      bodyReader(lifecycle),
    ),
  );
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  publishDocs(app);
}

/** Makes every body a JSON object that the engine can keep; where none was sent, an empty one. */
function bodyReader(lifecycle: Lifecycle): RequestHandler {
  const readJson = (limit: number) => lifecycle.unlessStopping(jsonParser(limit));
  const read = inOneLayer(readAsciiAsUtf8, readJson(LARGEST_BODY_BYTES), guardBody);
  // A batch of usage is taken item by item: what is wrong with one says nothing against the others.
  const readUsage = inOneLayer(readAsciiAsUtf8, readJson(LARGEST_USAGE_BODY_BYTES));
  return (request, response, next) => {
    if (isUsageRequest(request)) readUsage(request, response, next);
    else if (announcesBody(request)) read(request, response, next);
    else {
      request.body = {};
      next();
    }
  };
}

function jsonParser(limit: number): RequestHandler {
  return readPlainJson(
    limit,
    json({ limit, type: 'application/json', strict: false, verify: requireUtf8 }),
  );
}
