import { startTestApp, type TestApp } from '../support/test-app';

const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };

describe('requests from browsers', () => {
  describe('to a service on loopback with open access', () => {
    let engine: TestApp;
    let origin: string;
    let port: string;
    let customer: string;

    beforeAll(async () => {
      engine = await startTestApp();
      origin = await engine.app.getUrl();
      ({ port } = new URL(origin));
      const created = await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
      customer = (created.body as { id: string }).id;
    });

    afterAll(() => engine.close());

    async function openInvoice(): Promise<string> {
      const draft = await engine.http
        .post('/v1/invoices')
        .send({
          customer_id: customer,
          currency: 'USD',
          lines: [{ description: 'Work', amount: 5 }],
        })
        .expect(201);
      const { id } = draft.body as { id: string };
      await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
      return id;
    }

    const voidWith = async (headers: Readonly<Record<string, string>>) => {
      const invoice = await openInvoice();
      const { body } = await engine.http.post(`/v1/invoices/${invoice}/void`).set(headers);
      const { body: read } = await engine.http.get(`/v1/invoices/${invoice}`);
      return { answer: body as object, status: (read as { status: string }).status };
    };

    it.each([
      [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
      [{ 'Sec-Fetch-Site': 'cross-site' }],
      [{ 'Sec-Fetch-Site': 'cross-site', ...NAVIGATION }],
      [{ 'Sec-Fetch-Site': 'same-site', Origin: 'http://127.0.0.1:1' }],
      [{ Origin: 'https://evil.example' }],
      [{ Origin: 'null' }],
      [{ Origin: 'http://127.0.0.1:1' }],
    ])('cannot void an invoice from another site: %j', async (headers) => {
      const { answer, status } = await voidWith(headers);
      expect(answer).toMatchObject({ status: 403, code: 'cross_site_request' });
      expect(status).toBe('open');
    });

    it.each([
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '[::2]',
      '127.0.0.1@evil.example',
      'evil.example:3000',
    ])('cannot void an invoice with the host name %s', async (host) => {
      const { answer, status } = await voidWith({ Host: host, 'Sec-Fetch-Site': 'same-origin' });
      expect(answer).toMatchObject({ status: 403, code: 'host_not_loopback' });
      expect(status).toBe('open');
      const read = await engine.http.get(`/v1/customers/${customer}`).set('Host', host);
      expect(read.status).toBe(403);
    });

    it('succeed from the Swagger UI and from clients that are not browsers', async () => {
      const allowed: readonly Readonly<Record<string, string>>[] = [
        {},
        { 'Sec-Fetch-Site': 'same-origin', Origin: origin },
        { 'Sec-Fetch-Site': 'none' },
        { Origin: origin },
        { Host: `localhost:${port}`, Origin: `http://localhost:${port}` },
        { Host: 'LOCALHOST' },
        { Host: `[::1]:${port}` },
      ];
      for (const headers of allowed) {
        expect(await voidWith(headers)).toMatchObject({ status: 'void' });
      }
    });

    it.each(['none', 'cross-site', 'same-site'])(
      'that open a page of the service succeed, with Sec-Fetch-Site: %s',
      async (site) => {
        const open = (headers: object) =>
          engine.uncheckedHttp.get('/docs/').set({ 'Sec-Fetch-Site': site, ...headers });
        expect((await open(NAVIGATION)).status).toBe(200);
        const framed = await open({ ...NAVIGATION, 'Sec-Fetch-Dest': 'iframe' });
        expect(framed.status).toBe(site === 'none' ? 200 : 403);
      },
    );

    it('succeed on a connection that was idle for a minute', async () => {
      const { headers } = await fetch(`${origin}/health/live`);
      expect(headers.get('keep-alive')).toBe('timeout=65');
      const { headersTimeout, keepAliveTimeout } = engine.app.getHttpServer();
      expect(keepAliveTimeout).toBe(65_000);
      expect(headersTimeout).toBeGreaterThan(keepAliveTimeout);
    });
  });

  it('may use any host name if the service listens beyond loopback', async () => {
    const engine = await startTestApp({
      environment: { HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' },
    });
    const answer = await engine.http.get('/health/live').set('Host', 'billing.example.com');
    expect(answer.status).toBe(200);
    await engine.close();
  });
});
