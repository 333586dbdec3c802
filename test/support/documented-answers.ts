import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnySchema, Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

/** A response as a client sees it; `body` is the parsed body if it is JSON. */
export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
  /** Headers by their lower-case name. If absent, they are not compared. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Reference {
  readonly $ref: string;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: AnySchema }>>;
}

interface DocumentedOperation {
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses?: Readonly<Record<string, DocumentedResponse>>;
  };
}

const SCHEMAS = '#/components/schemas/';
const RESPONSES = '#/components/responses/';
const PROBLEM = 'application/problem+json';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isReference = (value: object): value is Reference => '$ref' in value;

const isJson = (mediaType: string): boolean => /[/+]json$/.test(mediaType);

/**
 * Returns the schema for the validator. References become names of components. Objects that declare properties may have
 * no other ones, unless the schema allows them. Examples are data and stay unchanged.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([name, value]): [string, unknown] => {
    if (name === 'example') return [name, value];
    if (name === '$ref') return [name, String(value).replace(SCHEMAS, '')];
    return [name, closed(value)];
  });
  const isClosed = isObject(schema['properties']) && schema['type'] === 'object';
  return { ...(isClosed ? { additionalProperties: false } : {}), ...Object.fromEntries(entries) };
}

/** Compares responses with the OpenAPI document. Each schema is compiled once, when it is first needed. */
export class DocumentedAnswers {
  private readonly ajv = new Ajv2020({ allErrors: true, strictTypes: false });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly templates: readonly { readonly template: string; readonly pattern: RegExp }[];

  constructor(private readonly document: ApiDocument) {
    addFormats(this.ajv);
    this.ajv.addVocabulary(['example', 'discriminator']);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      this.ajv.addSchema(closed(schema) as AnySchema, name);
    }
    const literals = (template: string): string => template.replaceAll(/\{\w+\}/g, '');
    const parameters = (template: string): number => template.split('{').length;
    // Sorts the most literal template first: `/v1/invoices/{id}.pdf` before `/v1/invoices/{id}`.
    this.templates = Object.keys(document.paths)
      .sort(
        (one, other) =>
          parameters(one) - parameters(other) || literals(other).length - literals(one).length,
      )
      .map((template) => {
        const escaped = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
        return { template, pattern: new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, '[^/]+')}$`) };
      });
  }

  /** Returns all differences between a response and the document; an empty list if there are none. */
  faultsOf(answer: Answer): readonly string[] {
    const method = answer.method.toLowerCase();
    const operation = this.operationOf(method === 'head' ? 'get' : method, answer.path);
    if (operation === null) return this.faultsWithoutOperation(answer);
    const documented = operation.responses[String(answer.status)];
    if (documented === undefined) return [`the status ${answer.status} is not documented`];
    const { content, headers = {} } = this.resolved(documented);
    const faults = faultsOfHeaders(answer, headers);
    if (faults.length > 0 || method === 'head') return faults;
    if (content === undefined) {
      return answer.contentType === '' ? [] : ['a body is not documented'];
    }
    const mediaType = answer.contentType.split(';')[0] ?? '';
    const schema = content[mediaType]?.schema;
    if (schema === undefined) return [`the content type ${mediaType} is not documented`];
    return isJson(mediaType) ? this.faultsOfBody(schema, answer.body) : [];
  }

  /** Returns the faults of a response from a path that the document does not contain. Only a problem is allowed there. */
  private faultsWithoutOperation({ status, contentType, body }: Answer): readonly string[] {
    if (status < 400) return ['the operation is not documented'];
    if (!contentType.startsWith(PROBLEM)) return [`the content type is not ${PROBLEM}`];
    return this.faultsOfBody({ $ref: `${SCHEMAS}ProblemDto` }, body);
  }

  private operationOf(method: string, path: string): DocumentedOperation | null {
    const [pathname = ''] = path.split('?');
    const found = this.templates.find(
      ({ template, pattern }) =>
        this.document.paths[template]?.[method] !== undefined && pattern.test(pathname),
    );
    return found === undefined ? null : (this.document.paths[found.template]?.[method] ?? null);
  }

  private resolved(response: DocumentedResponse | Reference): DocumentedResponse {
    if (!isReference(response)) return response;
    const name = response.$ref.replace(RESPONSES, '');
    const found = this.document.components.responses?.[name];
    if (found === undefined) throw new Error(`The document has no response ${response.$ref}`);
    return found;
  }

  private faultsOfBody(schema: AnySchema, body: unknown): readonly string[] {
    const validate = this.validatorOf(schema);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath === '' ? 'the body' : instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }

  private validatorOf(schema: AnySchema): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.validators.get(key);
    if (known !== undefined) return known;
    const validate = this.ajv.compile(closed(schema) as AnySchema);
    this.validators.set(key, validate);
    return validate;
  }
}

/**
 * Returns the faults of the headers that clients act on. A success must have an `ETag` if its operation declares one,
 * and otherwise none.
 */
function faultsOfHeaders(
  { status, headers, body }: Answer,
  declared: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (headers === undefined) return [];
  const isSent = (name: string): boolean => headers[name.toLowerCase()] !== undefined;
  const declaredIfSent = ['Retry-After', 'Idempotent-Replayed', 'WWW-Authenticate'];
  const faults = declaredIfSent.filter((name) => isSent(name) && !(name in declared));
  // An answer that is either an object or its preview declares the tag of the object.
  const isPreview = isObject(body) && String(body['object']).endsWith('_preview');
  if (status < 300 && !isPreview && isSent('ETag') !== 'ETag' in declared) faults.push('ETag');
  return faults.map((name) => `the header ${name} is not as documented`);
}

let committed: DocumentedAnswers | null = null;

/** Returns the comparison with the committed document. The first call reads the document. */
export function committedDocument(): DocumentedAnswers {
  committed ??= new DocumentedAnswers(
    JSON.parse(readFileSync(join(__dirname, '../../openapi/openapi.json'), 'utf8')) as ApiDocument,
  );
  return committed;
}
