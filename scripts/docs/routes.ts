import { basename } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../../src/openapi/operations';
import * as platformErrors from '../../src/platform/errors/platform.errors';
import { page, table } from './markdown';
import { openApiDocument } from './openapi';
import { type Handler, SourceCode } from './source-code';

const INTRODUCTION = `# Routes

<!-- Generated from the controllers by \`npm run docs:write\`; do not edit. -->

Every operation, with the code behind it: the controller, and the methods that it calls, in their order. Errors are those of
the business modules; the [errors](errors.md) of the platform, such as \`validation_failed\`, are left out. Events are those
that the calls can record, whether they do depends on the case; those of hooks and of background work are left out.`;

/** Error codes that every operation can answer with. */
const PLATFORM_CODES: ReadonlySet<string> = new Set(
  Object.values(platformErrors).flatMap((error) =>
    'definition' in error ? [error.definition.code] : [],
  ),
);

/**
 * Renders docs/routes.md: every operation with its code, errors and events, by tag.
 * @throws {Error} when an operation of the document has no handler
 */
export async function renderRoutes(): Promise<string> {
  const document = await openApiDocument();
  const handlers = new SourceCode(process.cwd()).handlers();
  const operations = operationsOf(document.paths);
  const sections = (document.tags ?? []).flatMap(({ name }) => [
    '',
    `## ${name}`,
    '',
    ...table(
      ['Operation', 'Code', 'Errors', 'Events'],
      operations
        .filter(({ operation }) => operation.tags?.includes(name))
        .map(({ method, path, operation }) => {
          const handler = handlers.get(operation.operationId ?? '');
          if (handler === undefined) throw new Error(`${method} ${path} has no handler.`);
          return [
            `\`${method.toUpperCase()} ${path}\`<br>\`${operation.operationId ?? ''}\``,
            codeOf(handler),
            listed(errorsOf(operation, document), 'errors'),
            listed(handler.events, 'events'),
          ];
        }),
    ),
  ]);
  return page(INTRODUCTION, ...sections);
}

function codeOf({ controller, file, calls }: Handler): string {
  const called = calls.map(({ name, file: of }) => linked(name, of));
  return [linked(controller, file), ...called].join('<br>');
}

function linked(name: string, file: string): string {
  return `[${name}](../${file} "${basename(file)}")`;
}

function listed(names: readonly string[], document: 'errors' | 'events'): string {
  return names.map((name) => `[${name}](${document}.md#${name})`).join('<br>');
}

type Operation = ReturnType<typeof operationsOf>[number]['operation'];

function errorsOf({ responses }: Operation, { components }: OpenAPIObject): readonly string[] {
  return [
    ...new Set(
      Object.values(responses).flatMap((response) => {
        const shared =
          response !== undefined && '$ref' in response
            ? components?.responses?.[basename(response.$ref)]
            : response;
        if (shared === undefined || '$ref' in shared) return [];
        const { examples } = shared.content?.['application/problem+json'] ?? {};
        return Object.keys(examples ?? {});
      }),
    ),
  ].filter((code) => !PLATFORM_CODES.has(code));
}
