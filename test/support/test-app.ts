import { Test } from '@nestjs/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import supertest from 'supertest';
import type TestAgent from 'supertest/lib/agent';
import { EngineModule } from '../../src/engine.module';
import { isNdjsonUsageRequest } from '../../src/modules/metering';
import { Clock } from '../../src/platform/clock';
import { Configuration } from '../../src/platform/config';
import { Database } from '../../src/platform/database';
import { HttpAdapter } from '../../src/platform/http';
import { createLogger, NestLogger } from '../../src/platform/logging';
import { checkedClient } from './checked-client';
import { assertEventsFollow, assertLastEventsAreCurrent } from './event-history';
import { createTestDatabase, type TestDatabase } from './databases';
import { ManualClock } from './manual-clock';
import { EVENTS } from './stored-events';

export interface TestApp {
  readonly app: NestExpressApplication;
  /** HTTP over a real socket. A request fails if its response differs from the OpenAPI document. */
  readonly http: TestAgent;
  /** HTTP without the comparison. For pages and operations that the document does not contain, and for protocol errors. */
  readonly uncheckedHttp: TestAgent;
  readonly clock: ManualClock;
  readonly database: Database;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Environment variables in addition to those of all tests. */
  readonly environment?: Readonly<Record<string, string>>;
  /** URL of a database that another application already uses. It is not dropped when this application closes. */
  readonly databaseUrl?: string;
  /** True if the test writes or damages events in SQL. Otherwise, events are checked when the application closes. */
  readonly plantsEvents?: boolean;
  /**
   * True if the test changes objects in SQL. Otherwise, objects are compared with their last events when the
   * application closes.
   */
  readonly plantsObjects?: boolean;
  /** True if the test causes deadlocks. Otherwise, closing the application throws if its database had a deadlock. */
  readonly plantsDeadlocks?: boolean;
}

/**
 * Starts the whole engine on a database of its own, on a free port. Nothing runs in the background (`ROLE=api`) unless
 * the test asks for it, so tests call due work themselves.
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const own: TestDatabase | null =
    options.databaseUrl === undefined
      ? await createTestDatabase('migrated', options.plantsDeadlocks)
      : null;
  const databaseUrl = options.databaseUrl ?? own?.url ?? '';
  const configuration = new Configuration({
    PORT: '0',
    ROLE: 'api',
    LOG_LEVEL: 'error',
    // No rate limits: the clock of tests stands still, so the minute of a limit would never end.
    RATE_LIMIT_PER_MINUTE: '0',
    RATE_LIMIT_USAGE_PER_MINUTE: '0',
    RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
    ...options.environment,
  });
  const clock = new ManualClock();
  // Logs through the stream, so that a test can capture the lines. In production, the service writes to the file descriptor.
  const logger = createLogger(configuration.logLevel, process.stdout);
  const module = await Test.createTestingModule({
    imports: [EngineModule.with(configuration, databaseUrl, logger)],
  })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(
    new HttpAdapter(isNdjsonUsageRequest),
    {
      bodyParser: false,
      logger: new NestLogger(logger),
    },
  );
  await app.listen(configuration.port, configuration.host);
  const url = await app.getUrl();
  return {
    app,
    http: checkedClient(url),
    uncheckedHttp: supertest(url),
    clock,
    database: app.get(Database),
    databaseUrl,
    close: async () => {
      try {
        if (own !== null && !options.plantsEvents) {
          await assertEventsFollow(app.get(Database));
          if (!options.plantsObjects)
            await assertLastEventsAreCurrent(app.get(Database), supertest(url));
        }
      } finally {
        await app.close();
        await own?.drop();
      }
    },
  };
}

export interface EventRow {
  readonly type: string;
  readonly sequence: number;
  readonly data: {
    readonly object: Record<string, unknown>;
    readonly previous: Record<string, unknown>;
  };
}

/** Returns the events recorded about each object, in order. */
export async function eventsOfAll(
  testApp: TestApp,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly EventRow[]>> {
  const rows = await testApp.database.query<EventRow & { readonly object_id: string }>(
    `SELECT object_id, type, sequence, data FROM ${EVENTS} WHERE object_id = ANY ($1) ORDER BY sequence`,
    [objectIds],
  );
  const events = new Map<string, EventRow[]>(objectIds.map((id) => [id, []]));
  for (const { object_id, ...event } of rows) events.get(object_id)?.push(event);
  return events;
}

/** Returns the events recorded about an object, in order. */
export function eventsOf(testApp: TestApp, objectId: string): Promise<readonly EventRow[]> {
  return testApp.database.query<EventRow>(
    `SELECT type, sequence, data FROM ${EVENTS} WHERE object_id = $1 ORDER BY sequence`,
    [objectId],
  );
}
