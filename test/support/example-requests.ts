import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly example?: string;
  readonly schema?: {
    readonly enum?: readonly string[];
    readonly items?: { readonly enum?: readonly string[] };
    readonly format?: string;
    readonly example?: string;
  };
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly example?: object | string }>>;
  };
  readonly responses: Readonly<Record<string, object>>;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly operation: OperationObject;
}

type DocumentedOperation = Omit<OperationObject, 'parameters'> & {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
};

const document = JSON.parse(
  readFileSync(join(__dirname, '../../openapi/openapi.json'), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
};

function resolved(parameter: Parameter | { readonly $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`The document has no parameter ${parameter.$ref}`);
  return found;
}

export const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method as Operation['method'],
      path,
      operation: { ...operation, parameters: operation.parameters?.map(resolved) },
    })),
);

/** Ids of created objects. Keeps the id of the newest object of each type, by prefix. */
export class MadeIds {
  readonly #byPrefix = new Map<string, string>();

  remember(body: unknown): void {
    const { id, lines } = (body ?? {}) as { id?: unknown; lines?: unknown };
    if (typeof id === 'string') this.#byPrefix.set(id.split('_')[0] ?? '', id);
    if (Array.isArray(lines)) for (const line of lines) this.remember(line);
  }

  /** Replaces example ids by ids of created objects. An example id stays if no object of its type was created. */
  fillIn(text: string): string {
    return text.replaceAll(
      /([a-z]+)_01h455vb4pex5vsknk084sn02q/g,
      (example, prefix: string) => this.#byPrefix.get(prefix) ?? example,
    );
  }
}

/** Returns the example bodies of an operation, with the ids of created objects. */
export function bodiesOf(
  { requestBody }: OperationObject,
  made: MadeIds,
): readonly { readonly mediaType: string | null; readonly text: string }[] {
  if (requestBody === undefined) return [{ mediaType: null, text: '' }];
  return Object.entries(requestBody.content).map(([mediaType, { example }]) => ({
    mediaType,
    text: made.fillIn(typeof example === 'string' ? example : JSON.stringify(example)),
  }));
}

/** Returns the example path of an operation, with the ids of created objects. */
export function pathOf({ path, operation }: Operation, made: MadeIds): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters?.find((one) => one.in === 'path' && one.name === name);
    if (parameter?.example === undefined) throw new Error(`${path} has no example of {${name}}.`);
    return made.fillIn(parameter.example);
  });
}
