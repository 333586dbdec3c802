import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../src/app.module';
import { createOpenApiDocument } from '../../src/openapi';
import { Configuration } from '../../src/platform/config';

/** Not connected to: in preview mode Nest reads the controllers and makes no provider. */
const NO_DATABASE = 'postgres://nobody@127.0.0.1:1/none';

/** The document the service shows at /openapi.json, made from the controllers without a database. */
export async function renderOpenApi(): Promise<string> {
  const app = await NestFactory.create(AppModule.with(new Configuration({}), NO_DATABASE), {
    preview: true,
    logger: ['error'],
    abortOnError: false,
  });
  return `${JSON.stringify(createOpenApiDocument(app), null, 2)}\n`;
}
