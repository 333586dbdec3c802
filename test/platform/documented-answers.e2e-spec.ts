import { type Answer, DocumentedAnswers } from '../support/documented-answers';
import { startTestApp, type TestApp } from '../support/test-app';

const THING = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    made_at: { type: ['string', 'null'], format: 'date-time' },
    metadata: { type: 'object', additionalProperties: true },
    parts: { type: 'array', items: { $ref: '#/components/schemas/PartDto' } },
  },
  required: ['id', 'made_at', 'metadata', 'parts'],
};
const PART = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
const PROBLEM = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] };

const answers = new DocumentedAnswers({
  paths: {
    '/things/{id}': {
      get: {
        responses: {
          '200': {
            headers: { ETag: {} },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingDto' } } },
          },
          '404': { $ref: '#/components/responses/NotFound' },
        },
      },
      delete: { responses: { '204': {} } },
    },
    '/things/{id}.pdf': {
      get: { responses: { '200': { content: { 'application/pdf': { schema: {} } } } } },
    },
  },
  components: {
    schemas: { PartDto: PART, ProblemDto: PROBLEM, ThingDto: THING },
    responses: {
      NotFound: {
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDto' } },
        },
      },
    },
  },
});

const BODY = { id: '1', made_at: '2026-03-01T09:30:00.000Z', metadata: { free: 1 }, parts: [] };
const THING_READ: Answer = {
  method: 'GET',
  path: '/things/1?expand=all',
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: BODY,
};
const THING_REMOVED: Answer = {
  ...THING_READ,
  method: 'DELETE',
  status: 204,
  contentType: '',
  body: {},
};
const NOT_FOUND: Answer = {
  ...THING_READ,
  status: 404,
  contentType: 'application/problem+json',
  body: { code: 'thing_not_found' },
};

describe('the comparison of responses with the OpenAPI document', () => {
  it.each<[string, Answer]>([
    ['a documented body', THING_READ],
    ['a problem by reference', NOT_FOUND],
    ['a null that is documented', { ...THING_READ, body: { ...BODY, made_at: null } }],
    ['no body', THING_REMOVED],
    ['a file', { ...THING_READ, path: '/things/1.pdf', contentType: 'application/pdf' }],
    ['a declared ETag', { ...THING_READ, headers: { etag: '"1"' } }],
    ['headers alone', { ...THING_READ, method: 'HEAD', body: {} }],
    ['a problem of an unknown path', { ...NOT_FOUND, path: '/nothing' }],
  ])('accepts %s', (_, answer) => {
    expect(answers.faultsOf(answer)).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    ['a declared ETag that is missing', { ...THING_READ, headers: {} }, 'ETag'],
    ['an undeclared ETag', { ...THING_REMOVED, headers: { etag: '"1"' } }, 'ETag'],
    ['an undeclared Retry-After', { ...NOT_FOUND, headers: { 'retry-after': '1' } }, 'Retry-After'],
    [
      'an undeclared Idempotent-Replayed',
      { ...NOT_FOUND, headers: { 'idempotent-replayed': 'true' } },
      'Idempotent-Replayed',
    ],
    [
      'an undeclared WWW-Authenticate',
      { ...NOT_FOUND, headers: { 'www-authenticate': 'Bearer' } },
      'WWW-Authenticate',
    ],
    ['an undocumented 304', { ...THING_READ, status: 304, body: {} }, 'status 304'],
    ['an undocumented status', { ...THING_READ, status: 202 }, 'status 202'],
    ['another content type', { ...THING_READ, contentType: 'text/html' }, 'text/html'],
    ['a missing field', { ...THING_READ, body: { ...BODY, id: undefined } }, "'id'"],
    ['an undeclared field', { ...THING_READ, body: { ...BODY, name: 'x' } }, '"name"'],
    ['a wrong type', { ...THING_READ, body: { ...BODY, id: 1 } }, '/id must be string'],
    ['a wrong format', { ...THING_READ, body: { ...BODY, made_at: 'today' } }, 'date-time'],
    [
      'an undeclared field further in',
      { ...THING_READ, body: { ...BODY, parts: [{ amount: 1, tax: 1 }] } },
      '/parts/0',
    ],
    ['an incomplete problem', { ...NOT_FOUND, body: {} }, "'code'"],
    ['a body instead of none', { ...THING_READ, method: 'DELETE', status: 204 }, 'a body'],
    ['success outside the document', { ...THING_READ, path: '/nothing' }, 'operation'],
    ['another error outside the document', { ...NOT_FOUND, path: '/', body: 'no' }, 'object'],
  ])('finds %s', (_, answer, fault) => {
    expect(answers.faultsOf(answer).join('\n')).toContain(fault);
  });
});

describe('the HTTP client of tests', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('accepts documented responses', async () => {
    await engine.http.get('/v1/customers').expect(200);
    await engine.http.get('/v1/customers/cus_unknown').expect(404);
  });

  it('fails if the operation is not documented', async () => {
    await engine.uncheckedHttp.get('/openapi.json').expect(200);
    await expect(engine.http.get('/openapi.json').then(({ status }) => status)).rejects.toThrow(
      'GET /openapi.json was not answered with 200 as documented',
    );
  });
});
