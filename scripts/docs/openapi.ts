import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EngineModule } from '../../src/engine.module';
import { createOpenApiDocument } from '../../src/openapi';
import { Configuration } from '../../src/platform/config';

/** A URL to which nothing connects: in preview mode, Nest reads the controllers but creates no providers. */
const NO_DATABASE = 'postgres://nobody@127.0.0.1:1/none';

let document: OpenAPIObject | null = null;

/** Returns the document that the service shows at /openapi.json. It is made from the controllers, without a database. */
export async function openApiDocument(): Promise<OpenAPIObject> {
  document ??= await createDocument();
  return document;
}

/** Renders openapi/openapi.json. */
export async function renderOpenApi(): Promise<string> {
  return `${JSON.stringify(await openApiDocument(), null, 2)}\n`;
}

async function createDocument(): Promise<OpenAPIObject> {
  const app = await NestFactory.create(EngineModule.with(new Configuration({}), NO_DATABASE), {
    preview: true,
    logger: ['error'],
    abortOnError: false,
  });
  return createOpenApiDocument(app);
}
