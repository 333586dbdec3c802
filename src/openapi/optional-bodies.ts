import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';

/** Marks each request body without a required field as optional, because a missing body counts as `{}`. */
export function markOptionalBodies({ paths, components }: OpenAPIObject): void {
  const schemas = components?.schemas ?? {};
  for (const { operation } of operationsOf(paths)) {
    const { requestBody } = operation;
    if (requestBody === undefined || !('content' in requestBody)) continue;
    const schema = requestBody.content['application/json']?.schema;
    if (schema === undefined || !('$ref' in schema)) continue;
    const named = schemas[schema.$ref.slice('#/components/schemas/'.length)];
    if (named === undefined || '$ref' in named) continue;
    requestBody.required = (named.required ?? []).length > 0;
  }
}
