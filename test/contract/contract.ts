import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationContract>>>>;
}

interface OperationContract {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The parts of a response that the contract describes. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

const SCHEMA_ID = 'https://contract.test/operations.json';
const contract = JSON.parse(
  readFileSync(join(__dirname, 'specified-operations.json'), 'utf8'),
) as Contract;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ ...contract, $id: SCHEMA_ID });

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Every operation of the contract, as `METHOD /path`. */
export function operations(): readonly string[] {
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Returns the differences between a response and the contract; empty if there are none. */
export function breaches(operation: string, answer: Answer): readonly string[] {
  const [method = '', path = ''] = operation.split(' ');
  const described = contract.paths[path]?.[method.toLowerCase()]?.responses[String(answer.status)];
  if (described === undefined) return [`the status ${answer.status} is not described`];
  const isReference = typeof described === 'object' && described !== null && '$ref' in described;
  const at = isReference
    ? '#/components/responses/Problem'
    : `#/paths/${escaped(path)}/${method.toLowerCase()}/responses/${answer.status}`;
  const mediaType = answer.contentType.split(';')[0] ?? '';
  const expected = isReference ? 'application/problem+json' : 'application/json';
  if (mediaType !== expected) return [`the content type is ${mediaType}, not ${expected}`];
  const validate = ajv.compile({
    $ref: `${SCHEMA_ID}${encodeURI(`${at}/content/${escaped(expected)}/schema`)}`,
  });
  if (validate(answer.body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
  );
}
