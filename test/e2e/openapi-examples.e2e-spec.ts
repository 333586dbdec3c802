import { STORY } from '../../src/openapi/story';
import { bodiesOf, MadeIds, type Operation, OPERATIONS, pathOf } from '../support/example-requests';
import { startTestApp, type TestApp } from '../support/test-app';

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

  it('are accepted as shown, in the order of the story, and audited once each; those for admins and for Stripe are refused', async () => {
    const answers: string[] = [];
    for (const { operationId, isForAdmins = false, isForStripe = false } of STORY) {
      const refusal = isForAdmins ? '403' : isForStripe ? '422' : null;
      const found = OPERATIONS.find(({ operation }) => operation.operationId === operationId);
      if (found === undefined) throw new Error(`The document has no operation ${operationId}.`);
      // The example is without `?preview=true`, whose status is listed before that of a creation.
      const success =
        refusal ?? Object.keys(found.operation.responses).findLast((status) => status < '300');
      for (const { mediaType, text } of bodiesOf(found.operation, made)) {
        const audited = await auditedOperations();
        const request = engine.http[found.method](pathOf(found, made));
        if (mediaType !== null) void request.set('Content-Type', mediaType);
        const { status, body, text: answer } = await request.send(text);
        answers.push(`${operationId} ${status}${String(status) === success ? '' : `: ${answer}`}`);
        made.remember(body);
        expect(await auditedOperations()).toEqual([
          ...audited,
          ...(isAudited(found) && refusal === null ? [`${operationId} by open`] : []),
        ]);
        if (mediaType === 'application/x-ndjson') expect(body).toMatchObject({ rejected: [] });
      }
      expect(answers.at(-1)).toBe(`${operationId} ${success}`);
    }
  });

  it('are followed by operations without an example: accepted ones are audited once, refused ones not', async () => {
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

  it('may be missing exactly where the document says so', async () => {
    const optional: string[] = [];
    const missing: string[] = [];
    for (const one of OPERATIONS) {
      const { operationId, requestBody } = one.operation;
      if (requestBody === undefined) continue;
      if (!requestBody.required) optional.push(operationId);
      const { status } = await engine.http[one.method](pathOf(one, made));
      if (status !== 400) missing.push(operationId);
    }
    expect(missing).toEqual(optional);
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
  'retryWebhookDeliveries',
];

function isAudited({ method, operation }: Operation): boolean {
  return method !== 'get' && !NOT_AUDITED.includes(operation.operationId);
}
