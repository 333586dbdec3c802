import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE } from '../platform/http';
import { operationsOf, type Paths } from './operations';

type Responses = NonNullable<NonNullable<Paths[string]['get']>['responses']>;
type Response = Exclude<NonNullable<Responses[string]>, { $ref: string }>;

/**
 * Moves error responses and their examples to the `components` of the document. A response with one error code is named
 * after this code. Any other response is named after the first operation that has it, for example `createRefund_409`.
 */
export function shareProblems(document: OpenAPIObject): void {
  const responses: Record<string, Response> = {};
  const examples: NonNullable<NonNullable<OpenAPIObject['components']>['examples']> = {};
  const names = new Map<string, string>();
  for (const { operation } of operationsOf(document.paths)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const problem = problemOf(response);
      if (problem === null) continue;
      const codes = Object.keys(problem.examples);
      Object.assign(examples, problem.examples);
      const key = codes.join();
      const name =
        names.get(key) ?? (codes.length === 1 ? key : `${operation.operationId ?? ''}_${status}`);
      names.set(key, name);
      responses[name] = {
        description: problem.description,
        content: {
          [PROBLEM_MEDIA_TYPE]: {
            schema: problem.schema,
            examples: Object.fromEntries(
              codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      };
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses, examples };
}

function problemOf(response: Responses[string]) {
  if (response === undefined || '$ref' in response) return null;
  const media = response.content?.[PROBLEM_MEDIA_TYPE];
  if (media?.schema === undefined || media.examples === undefined) return null;
  return { description: response.description, schema: media.schema, examples: media.examples };
}
