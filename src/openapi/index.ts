import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, Request } from 'express';
import { describeDefaults } from './defaults';
import { describePathParameters } from './path-parameters';
import { addRequestExamples } from './request-examples';
import { shareProblems } from './shared-problems';
import { describeTags } from './tags';
import { addWebhooks } from './webhooks';

const DESCRIPTION = `Subscriptions, invoicing, usage metering, entitlements, coupons, payments and refunds, webhooks.

Amounts are whole minor units beside an ISO 4217 \`currency\` (1099 USD is 10.99). Timestamps are RFC 3339 in UTC.
Lists are paged with \`limit\` and \`cursor\`, newest first. Every POST takes an \`Idempotency-Key\`; usage
events have keys of their own. Errors are
\`application/problem+json\` (RFC 9457) with a stable \`code\`.`;

/** The description of every operation, made from the controllers. */
export function createOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Billing engine')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The service that shows this')
    .build();
  const document = SwaggerModule.createDocument(app, builder, {
    operationIdFactory: (_controller, method) => method,
  });
  describePathParameters(document);
  describeDefaults(document);
  addRequestExamples(document);
  shareProblems(document);
  describeTags(document);
  addWebhooks(document);
  // By the alphabet, and not in the order in which routes are looked up.
  document.paths = sorted(document.paths);
  if (document.components?.schemas !== undefined) {
    document.components.schemas = sorted(document.components.schemas);
  }
  return document;
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Returns true for the Swagger UI page and its files. */
export function isOfDocs({ url }: Pick<Request, 'url'>): boolean {
  return url.startsWith('/docs');
}

/** Publishes Swagger UI at /docs, where / leads, and the document at /openapi.json. */
export function publishDocs(app: NestExpressApplication): void {
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/', (_request, response) => {
    response.redirect('/docs');
  });
  SwaggerModule.setup('docs', app, () => createOpenApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Billing engine',
    swaggerOptions: {
      displayRequestDuration: true,
      tryItOutEnabled: true,
      filter: true,
      // Hundreds of schemas below the operations would be drawn before the page answers.
      defaultModelsExpandDepth: -1,
      syntaxHighlight: false,
    },
  });
}
