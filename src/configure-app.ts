import type { NestExpressApplication } from '@nestjs/platform-express';
import { json } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { publishDocs } from './openapi';
import { createValidationPipe, guardBody, guardUrl, ProblemFilter } from './platform/http';
import { requestLog } from './platform/logging';
import { Lifecycle, Metrics } from './platform/observability';

const LARGEST_BODY = '1mb';

/** Everything between the socket and the controllers, the same in `main.ts` and in the tests. */
export function configureApp(app: NestExpressApplication, logger: Logger): void {
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.disable('x-powered-by');
  app.use(requestLog(logger));
  app.use(app.get(Metrics).measure);
  app.use(app.get(Lifecycle).closeWhenDraining);
  app.use(helmet());
  app.use(guardUrl);
  app.use(json({ limit: LARGEST_BODY, type: 'application/json', strict: false }));
  app.use(guardBody);
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  publishDocs(app);
}
