import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STORY } from '../../src/openapi/story';
import { startTestApp, type TestApp } from '../support/test-app';

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string; example?: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: object | string }>>;
  };
  readonly responses: Readonly<Record<string, object>>;
}

interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly operation: OperationObject;
}

const document = JSON.parse(
  readFileSync(join(__dirname, '../../openapi/openapi.json'), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>> };

const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method as Operation['method'],
    path,
    operation,
  })),
);

/** Ids of the created objects by prefix; the last one of each kind. */
class MadeIds {
  readonly #byPrefix = new Map<string, string>();

  remember(body: unknown): void {
    const { id, lines } = (body ?? {}) as { id?: unknown; lines?: unknown };
    if (typeof id === 'string') this.#byPrefix.set(id.split('_')[0] ?? '', id);
    if (Array.isArray(lines)) for (const line of lines) this.remember(line);
  }

  /** Replaces example ids with the ids of created objects; an id of a kind that was not created stays. */
  fillIn(text: string): string {
    return text.replaceAll(
      /([a-z]+)_01h455vb4pex5vsknk084sn02q/g,
      (example, prefix: string) => this.#byPrefix.get(prefix) ?? example,
    );
  }
}

describe('the request examples of the OpenAPI document', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Returns operation and actor of every entry of the audit log, oldest first. */
  async function auditedOperations(): Promise<readonly string[]> {
    const rows = await engine.database.query<{ line: string }>(
      `SELECT concat(operation, ' by ', actor_id) AS line FROM audit_log ORDER BY id`,
    );
    return rows.map(({ line }) => line);
  }

  it('exist for each request body', () => {
    const bodies = OPERATIONS.flatMap(({ operation }) =>
      Object.entries(operation.requestBody?.content ?? {}).map(
        ([mediaType, { example }]) => [operation.operationId, mediaType, typeof example] as const,
      ),
    );
    expect(bodies.filter(([, , type]) => type === 'undefined')).toEqual([]);
    const covered = STORY.map(({ operationId }) => operationId);
    expect(new Set(covered).size).toBe(covered.length);
    expect(
      bodies.map(([operationId]) => operationId).filter((id) => !covered.includes(id)),
    ).toEqual([]);
  });

  const made = new MadeIds();

  it('are accepted as shown, in the order of the story, and audited once each', async () => {
    const answers: string[] = [];
    for (const { operationId } of STORY) {
      const found = OPERATIONS.find(({ operation }) => operation.operationId === operationId);
      if (found === undefined) throw new Error(`The document has no operation ${operationId}.`);
      // The example is without `?preview=true`, whose status is listed before that of a creation.
      const success = Object.keys(found.operation.responses).findLast((status) => status < '300');
      for (const { mediaType, text } of bodiesOf(found.operation, made)) {
        const audited = await auditedOperations();
        const request = engine.http[found.method](pathOf(found, made));
        if (mediaType !== null) void request.set('Content-Type', mediaType);
        const { status, body, text: answer } = await request.send(text);
        answers.push(`${operationId} ${status}${String(status) === success ? '' : `: ${answer}`}`);
        made.remember(body);
        expect(await auditedOperations()).toEqual([
          ...audited,
          ...(isAudited(found) ? [`${operationId} by open`] : []),
        ]);
        if (mediaType === 'application/x-ndjson') expect(body).toMatchObject({ rejected: [] });
      }
      expect(answers.at(-1)).toBe(`${operationId} ${success}`);
    }
  });

  it('are followed by operations without an example, which are audited once if accepted, else not', async () => {
    const inStory = new Set(STORY.map(({ operationId }) => operationId));
    const others = OPERATIONS.filter(
      (one) => isAudited(one) && !inStory.has(one.operation.operationId),
    );
    const accepted: string[] = [];
    for (const other of others) {
      const { operationId } = other.operation;
      const audited = await auditedOperations();
      const { status } = await engine.http[other.method](pathOf(other, made));
      if (status < 300) accepted.push(operationId);
      const entry = status < 300 ? [`${operationId} by open`] : [];
      expect(await auditedOperations()).toEqual([...audited, ...entry]);
    }
    expect(accepted).toEqual(expect.arrayContaining([...WITHOUT_EXAMPLE]));
  });
});

/** Operations without an example that can follow the story in the order of the document. */
const WITHOUT_EXAMPLE: readonly string[] = [
  'deleteAddonEntitlement',
  'archiveAddon',
  'revokeApiKey',
  'deletePaymentMethod',
  'deleteCustomer',
  'archiveMeter',
  'archivePlan',
  'revokeSession',
  'deleteStudioAdmin',
  'archiveTaxRate',
  'deleteTestClock',
  'deleteWebhookEndpoint',
];

/** Operations that change nothing, that are counted instead of recorded one by one, and examples that are no-ops. */
const NOT_AUDITED: readonly string[] = [
  'simulatePrices',
  'reportUsage',
  'consumeEntitlement',
  'updatePaymentMethod',
];

function isAudited({ method, operation }: Operation): boolean {
  return method !== 'get' && !NOT_AUDITED.includes(operation.operationId);
}

function bodiesOf(
  { requestBody }: OperationObject,
  made: MadeIds,
): readonly { readonly mediaType: string | null; readonly text: string }[] {
  if (requestBody === undefined) return [{ mediaType: null, text: '' }];
  return Object.entries(requestBody.content).map(([mediaType, { example }]) => ({
    mediaType,
    text: made.fillIn(typeof example === 'string' ? example : JSON.stringify(example)),
  }));
}

function pathOf({ path, operation }: Operation, made: MadeIds): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters?.find((one) => one.in === 'path' && one.name === name);
    if (parameter?.example === undefined) throw new Error(`${path} has no example of {${name}}.`);
    return made.fillIn(parameter.example);
  });
}
