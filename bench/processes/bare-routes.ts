import 'reflect-metadata';
import { Controller, Get, Module, Param, Query, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Pool } from 'pg';
import { answerJobs } from '../support/channel';
import type { Statement } from '../support/statements';

/**
 * Gives the upper bound for reads: bare Nest routes on Express that run the service's statements and answer with their
 * rows.
 */

export interface BareRoute {
  readonly path: string;
  /** Path or query parameter with the id of the object that the route reads. */
  readonly parameter: string;
  readonly statements: readonly Statement[];
  /** Value of `parameter` when the statements were recorded. */
  readonly recordedAs: string;
}

export interface BareRoutesJob {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly routes: readonly BareRoute[];
}

function controllerOf(pool: Pool, { path, parameter, statements, recordedAs }: BareRoute): Type {
  @Controller()
  class BareController {
    @Get(path)
    async read(
      @Param() inPath: Readonly<Record<string, string>>,
      @Query() inQuery: Readonly<Record<string, string>>,
    ): Promise<unknown> {
      const asked = inPath[parameter] ?? inQuery[parameter];
      let answer: unknown;
      for (const { text, values: recorded, name } of statements) {
        const values = recorded.map((value) => (value === recordedAs ? asked : value));
        const { rows } = await pool.query(
          name === undefined ? { text, values } : { text, values, name },
        );
        answer = rows;
      }
      return answer;
    }
  }
  return BareController;
}

answerJobs(async ({ databaseUrl, poolSize, routes }: BareRoutesJob): Promise<number> => {
  const pool = new Pool({ connectionString: databaseUrl, max: poolSize });

  @Module({ controllers: routes.map((route) => controllerOf(pool, route)) })
  class BareModule {}

  const app = await NestFactory.create<NestExpressApplication>(BareModule, {
    bodyParser: false,
    logger: false,
  });
  app.set('etag', false);
  await app.listen(0, '127.0.0.1');
  return Number(new URL(await app.getUrl()).port);
});
