import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly example?: unknown;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: Schema;
}

interface Description {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
            };
          }
        >
      >
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

const { paths, components } = JSON.parse(
  readFileSync(join(__dirname, '../../openapi/openapi.json'), 'utf8'),
) as Description;

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? '';

/** Returns every text and list that a request may have, by its path, with the example of the field. */
function* fieldsOf(
  path: string,
  schema: Schema,
  example?: unknown,
  seen: readonly string[] = [],
): Generator<readonly [path: string, schema: Schema, example: unknown]> {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    const target = components.schemas[name];
    if (target !== undefined && !seen.includes(name)) {
      yield* fieldsOf(name, target, undefined, [...seen, name]);
    }
    return;
  }
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    yield* fieldsOf(path, one, undefined, seen);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* fieldsOf(`${path}.${name}`, property, property.example, seen);
  }
  const types = [schema.type ?? []].flat();
  if (types.includes('string') || types.includes('array')) yield [path, schema, example];
  if (schema.items !== undefined) {
    const [item] = Array.isArray(example) ? (example as readonly unknown[]) : [];
    yield* fieldsOf(`${path}[]`, schema.items, item, seen);
  }
}

/** The provider writes these parameters of its redirect. */
const FROM_PROVIDER = 'finishOpenIdSignIn';

const FIELDS = Object.values(paths)
  .flatMap((item) => Object.values(item))
  .filter(({ operationId }) => operationId !== FROM_PROVIDER)
  .flatMap(({ operationId, parameters = [], requestBody }) => [
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => [
      ...fieldsOf(operationId, schema),
    ]),
    ...parameters
      .map((one) => ('$ref' in one ? components.parameters[nameOf(one.$ref)] : one))
      .flatMap((one) =>
        one?.in === 'query'
          ? [...fieldsOf(`${operationId}?${one.name}`, one.schema, one.schema.example)]
          : [],
      ),
  ]);

/** The OpenAPI document states what the fields of requests must be. */
describe('a field of a request', () => {
  it('that is text or a list has a rule', () => {
    const without = FIELDS.filter(([, schema]) => {
      const { pattern, format, minLength, maxLength, maxItems, items } = schema;
      const { contentMediaType } = schema;
      const ofText = [schema.enum, pattern, format, minLength, maxLength, contentMediaType];
      const rules = [...ofText, maxItems, items?.enum];
      return rules.every((one) => one === undefined);
    });
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('has no format besides date-time, because the service also accepts e-mail addresses and URLs beyond ASCII', () => {
    const formats = new Set(FIELDS.map(([, { format }]) => format));
    expect([...formats].filter((one) => one !== undefined)).toEqual(['date-time']);
  });

  it('has an example that matches its pattern, read with the flag for Unicode', () => {
    const texts = FIELDS.flatMap(([path, { pattern }, example]) =>
      pattern === undefined || typeof example !== 'string' ? [] : [{ path, pattern, example }],
    );
    expect(texts.length).toBeGreaterThan(50);
    const unlike = texts.filter(({ pattern, example }) => !new RegExp(pattern, 'u').test(example));
    expect(unlike).toEqual([]);
  });
});
