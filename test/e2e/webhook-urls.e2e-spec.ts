import { HostResolver } from '../../src/platform/outbound/resolver';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const PATH = '/v1/webhooks/endpoints';
const EVENTS = ['coupon.created'];
const PUBLIC = ['93.184.216.34', '2606:4700::1111'];

const NOT_PUBLIC = 'must lead to public addresses only';
const NOT_A_PORT = 'must use one of the ports 80, 443, 8080, 8443';

describe('the URL of a webhook endpoint, in production', () => {
  let engine: TestApp;
  let names: Record<string, readonly string[]>;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'false' } });
    jest.spyOn(engine.app.get(HostResolver), 'resolve').mockImplementation(async (host) => {
      // A transaction must not wait for a name server.
      expect(() => engine.database.requireTransaction()).toThrow();
      const addresses = names[host];
      if (addresses === undefined) throw new Error('There is no such name.');
      return addresses;
    });
  });

  afterAll(() => engine.close());

  beforeEach(() => {
    names = { 'public.example': PUBLIC, 'inside.example': ['10.1.2.3'] };
  });

  afterEach(async () => {
    await engine.database.query('DELETE FROM webhook_secret');
    await engine.database.query('DELETE FROM webhook_endpoint');
  });

  const create = (url: string, key?: string) => {
    const request = engine.http.post(PATH);
    return (key === undefined ? request : request.set('Idempotency-Key', key)).send({
      url,
      events: EVENTS,
    });
  };

  async function created(url: string): Promise<string> {
    const answer = await create(url);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  async function numberOfEndpoints(): Promise<number> {
    const answer = await engine.http.get(PATH);
    return (answer.body as { data: readonly unknown[] }).data.length;
  }

  it.each([
    ['http://127.0.0.1/', NOT_PUBLIC],
    ['http://2130706433/', NOT_PUBLIC],
    ['http://0x7f.1/', NOT_PUBLIC],
    ['https://localhost/hooks', NOT_PUBLIC],
    ['http://[::1]/', NOT_PUBLIC],
    ['http://[::ffff:127.0.0.1]/', NOT_PUBLIC],
    ['http://169.254.169.254/latest/meta-data/', NOT_PUBLIC],
    ['https://inside.example/', NOT_PUBLIC],
    ['http://127.0.0.1:5432/', NOT_A_PORT],
    ['https://public.example:6379/', NOT_A_PORT],
  ])('may not be %s', async (url, message) => {
    const answer = await create(url);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'webhook_url_not_allowed',
      detail: `The URL ${message}.`,
      errors: [{ pointer: '/url', code: 'not_allowed', message }],
    });
    expect(answer.text).not.toContain('10.1.2.3');
    expect(await numberOfEndpoints()).toBe(0);
  });

  it('must not resolve to any address that is not public', async () => {
    names['mixed.example'] = [...PUBLIC, '127.0.0.1'];
    expect((await create('https://mixed.example/')).status).toBe(422);
  });

  it.each([
    'https://public.example/hooks',
    'http://public.example:8080/',
    'https://93.184.216.34/',
    'https://not-there-yet.example/',
  ])('may be %s', async (url) => {
    await created(url);
  });

  it('is checked again only when it changes', async () => {
    const id = await created('https://public.example/');
    const path = `${PATH}/${id}`;
    for (const url of ['https://inside.example/', 'http://[::1]/', 'https://public.example:22/']) {
      const refused = await engine.http.patch(path).send({ url });
      expect(refused.status).toBe(422);
      expect(refused.body).toMatchObject({
        code: 'webhook_url_not_allowed',
        errors: [{ pointer: '/url' }],
      });
    }
    const moved = await engine.http.patch(path).send({ url: 'https://public.example/moved' });
    expect(moved.status).toBe(200);

    names['public.example'] = ['127.0.0.1'];
    const url = 'https://public.example/moved';
    const renamed = await engine.http.patch(path).send({ url, description: 'Renamed' });
    expect(renamed.status).toBe(200);
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'webhook_endpoint.created',
      'webhook_endpoint.updated',
      'webhook_endpoint.updated',
    ]);
  });

  it('is not resolved for an endpoint that does not exist', async () => {
    const unknown = `${PATH}/whe_01h455vb4pex5vsknk084sn02q`;
    const answer = await engine.http.patch(unknown).send({ url: 'https://inside.example/' });
    expect(answer.status).toBe(404);
  });

  it('is registered once for one key, even when its name later resolves differently', async () => {
    const url = 'https://public.example/once';
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(url, 'key-1')));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await numberOfEndpoints()).toBe(1);

    names['public.example'] = ['127.0.0.1'];
    const again = await create(url, 'key-1');
    expect(again.status).toBe(201);
    expect(again.text).toBe(answers[0]?.text);
    expect(again.headers['etag']).toBe('"1"');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await create('https://public.example/other', 'key-1')).status).toBe(409);
  });

  it('stays refused for the same key', async () => {
    const first = await create('https://inside.example/', 'key-2');
    names['inside.example'] = PUBLIC;
    const again = await create('https://inside.example/', 'key-2');
    expect(again.status).toBe(422);
    expect(again.body).toEqual({ ...first.body, request_id: again.headers['x-request-id'] });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await numberOfEndpoints()).toBe(0);
  });
});
