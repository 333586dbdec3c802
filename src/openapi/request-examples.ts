import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';
import { STORY, USAGE_EVENT } from './story';

const NDJSON = 'application/x-ndjson';

/** Schema and example of a usage report in NDJSON: each line is one event. */
const LINES = {
  schema: {
    type: 'string',
    contentMediaType: NDJSON,
    contentSchema: { $ref: '#/components/schemas/UsageEventReportDto' },
  },
  example: `${JSON.stringify(USAGE_EVENT)}\n`,
};

/** @throws {Error} if an operation with a body has no step in `STORY` */
export function addRequestExamples({ paths }: OpenAPIObject): void {
  const examples = new Map(STORY.map(({ operationId, body }) => [operationId, body]));
  for (const { operation } of operationsOf(paths)) {
    const { operationId = '', requestBody } = operation;
    if (requestBody === undefined || !('content' in requestBody)) continue;
    const body = examples.get(operationId);
    if (body === undefined)
      throw new Error(`No example of ${operationId}: add a step in src/openapi/story.ts.`);
    for (const [mediaType, media] of Object.entries(requestBody.content)) {
      if (mediaType !== NDJSON) media.example = body;
      else Object.assign(media, LINES);
    }
  }
}
