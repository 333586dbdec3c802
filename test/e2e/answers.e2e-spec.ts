import { startTestApp, type TestApp } from '../support/test-app';

/** Properties that all responses share. */
describe('a response', () => {
  let engine: TestApp;
  let customer: string;

  beforeAll(async () => {
    engine = await startTestApp();
    const created = await engine.http
      .post('/v1/customers')
      .send({ name: 'Ada Łukasiewicz 🦉', currency: 'EUR' });
    customer = `/v1/customers/${(created.body as { readonly id: string }).id}`;
  });

  afterAll(() => engine.close());

  const PAGE_HEADERS = {
    'content-security-policy':
      "default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;connect-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-download-options': 'noopen',
    'x-frame-options': 'SAMEORIGIN',
    'x-permitted-cross-domain-policies': 'none',
    'x-xss-protection': '0',
  };

  const DATA_HEADERS = {
    'content-security-policy': "default-src 'none';base-uri 'none';frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };

  it.each([
    ['for a resource', () => customer, 200, DATA_HEADERS],
    ['for the OpenAPI document', () => '/openapi.json', 200, DATA_HEADERS],
    ['for the Swagger UI', () => '/docs/', 200, PAGE_HEADERS],
    ['for an asset of the Swagger UI', () => '/docs/swagger-ui.css', 200, PAGE_HEADERS],
    ['for an unknown resource', () => '/v1/customers/cus_unknown', 404, DATA_HEADERS],
    ['for an unknown path', () => '/v1/nothing', 404, DATA_HEADERS],
    ['for a malformed query', () => `${customer}?a=1&a=2`, 400, DATA_HEADERS],
  ])('%s has the security headers for browsers', async (_, path, status, headers) => {
    // Also pages outside the document.
    const answer = await engine.uncheckedHttp.get(path());
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(headers);
    expect(answer.headers).not.toHaveProperty('strict-transport-security');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  it('with JSON has its content type and its length in bytes', async () => {
    const { headers, text } = await engine.http.get(customer);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(text).toContain('Ada Łukasiewicz 🦉');
  });

  it('to HEAD equals that to GET without the body', async () => {
    const read = await engine.http.get(customer);
    const asked = await engine.http.head(customer);
    expect(asked.status).toBe(200);
    expect(asked.text).toBeUndefined();
    for (const name of ['content-type', 'content-length', 'etag']) {
      expect(asked.headers[name]).toBe(read.headers[name]);
    }
  });

  it('to a caller that already has the resource is 304 without a body', async () => {
    const { headers, text } = await engine.http.get(customer);
    const again = await engine.http.get(customer).set('If-None-Match', headers['etag'] ?? '');
    expect([again.status, again.text]).toEqual([304, '']);
    const version = (headers['etag'] ?? '').slice(1, -1);
    for (const tag of [`W/"${version}"`, `"${version}-gzip"`, `"0", W/"${version};br"`]) {
      expect((await engine.http.get(customer).set('If-None-Match', tag)).status).toBe(304);
    }
    const other = await engine.http.get(customer).set('If-None-Match', '"0"');
    expect([other.status, other.text]).toEqual([200, text]);
  });

  it.each([
    ['a list', '/v1/customers'],
    ['a list as CSV', '/v1/customers', 'text/csv'],
    ['a report', '/v1/ledger/verify'],
    ['a health probe', '/health/live'],
    ['the metrics', '/metrics'],
    ['the OpenAPI document', '/openapi.json'],
  ])('without an ETag is no 304 to If-None-Match: * (%s)', async (_, path, type = '*/*') => {
    const { status, text, headers } = await engine.uncheckedHttp
      .get(path)
      .set({ 'If-None-Match': '*', Accept: type });
    expect([status, headers['etag']]).toEqual([200, undefined]);
    expect(text).not.toBe('');
  });

  async function draft(): Promise<string> {
    const { body } = await engine.http.post('/v1/invoices').send({
      customer_id: customer.split('/').at(-1),
      lines: [{ description: 'Setup', amount: 5000 }],
    });
    return `/v1/invoices/${(body as { readonly id: string }).id}`;
  }

  // The client of the tests compares the header of every other answer with the document.
  it('to a command that shows an object has the same ETag as a read, also when it is repeated', async () => {
    const invoice = await draft();
    const finalize = () => engine.http.post(`${invoice}/finalize`).set('Idempotency-Key', invoice);
    const answers = [await finalize(), await finalize(), await engine.http.get(invoice)];
    const [first, ...others] = answers.map(({ headers }) => headers['etag']);
    expect(first).toMatch(/^"\d+"$/);
    expect(others).toEqual([first, first]);
  });

  it('to fetch, which adds Cache-Control: no-cache to If-None-Match, is 304 as well', async () => {
    const invoice = await draft();
    const url = await engine.app.getUrl();
    for (const path of [customer, invoice, `${invoice}.pdf`]) {
      const etag = (await fetch(`${url}${path}`)).headers.get('etag') ?? '';
      const again = await fetch(`${url}${path}`, { headers: { 'If-None-Match': etag } });
      expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
    }
  });

  it('to a POST with an empty body names the required fields', async () => {
    const answer = await engine.http.post('/v1/customers');
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ code: 'validation_failed' }),
    ]);
  });
});
