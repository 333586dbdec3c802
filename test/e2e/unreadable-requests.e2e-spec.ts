import { type AddressInfo, connect } from 'node:net';
import { startTestApp, type TestApp } from '../support/test-app';

interface Answered {
  readonly head: string;
  readonly body: object;
}

/** Requests that Node refuses before any code of the service runs. */
describe('a request that cannot be read as HTTP', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Sends bytes, and reads until the service closes the connection. */
  function send(...requests: readonly string[]): Promise<readonly Answered[]> {
    return new Promise((resolve, reject) => {
      const { port } = engine.app.getHttpServer().address() as AddressInfo;
      const socket = connect(port, '127.0.0.1', () => socket.write(requests.join('')));
      let text = '';
      socket.setEncoding('utf8');
      socket.on('data', (part) => (text += String(part)));
      socket.on('error', reject);
      socket.on('close', () => {
        const answers = text.split(/(?=HTTP\/1\.1 )/);
        resolve(
          answers.map((answer) => {
            const [head = '', body = ''] = answer.split('\r\n\r\n');
            return { head, body: JSON.parse(body || 'null') as object };
          }),
        );
      });
    });
  }

  const request = (path: string, ...headers: readonly string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

  it.each([
    ['a long query', request(`/v1/customers?search=${'a'.repeat(20_000)}`)],
    ['a long header', request('/v1/customers', `X-Long: ${'a'.repeat(20_000)}`)],
    ['many headers', request('/v1/customers', ...Array<string>(3_000).fill('X-Many: a'))],
  ])('because of %s gets 431 and a problem', async (_, sent) => {
    const [answer] = await send(sent);
    expect(answer?.head).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer?.head).toMatch(/\r\nContent-Type: application\/problem\+json\r\n/i);
    expect(answer?.head).toMatch(/\r\nConnection: close/i);
    expect(answer?.head).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}/i);
    expect(answer?.body).toEqual({
      type: 'urn:billing-engine:problem:request_head_too_large',
      title: expect.any(String) as string,
      status: 431,
      detail: expect.stringContaining('16384') as string,
      code: 'request_head_too_large',
      request_id: expect.any(String) as string,
      errors: [],
    });
  });

  it.each([
    ['the request line', 'nothing that is HTTP\r\n\r\n'],
    ['a header', request('/v1/customers', 'No colon')],
    ['the length of the body', request('/v1/customers', 'Content-Length: many')],
  ])('because of %s gets 400 and a problem', async (_, sent) => {
    const [answer] = await send(sent);
    expect(answer?.head).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer?.body).toMatchObject({ status: 400, code: 'malformed_request' });
  });

  it.each([
    ['a missing Host', 'HTTP/1.1\r\n', 400, 'malformed_request'],
    ['two Hosts', 'HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n', 400, 'malformed_request'],
    [
      'the same Host twice',
      'HTTP/1.0\r\nHost: localhost\r\nhost: localhost\r\n',
      400,
      'malformed_request',
    ],
    // Only HTTP/1.1 requires the header.
    ['a missing name of this machine', 'HTTP/1.0\r\n', 403, 'host_not_loopback'],
    ['its Expect', 'HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\n', 417, 'expectation_failed'],
  ])('because of %s gets a problem', async (_, head, status, code) => {
    const [answer] = await send(`GET /v1/customers ${head}Connection: close\r\n\r\n`);
    expect(answer?.head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer?.head).toMatch(/\r\nContent-Type: application\/problem\+json/i);
    expect(answer?.head).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}/i);
    expect(answer?.head).toMatch(/\r\nX-Content-Type-Options: nosniff/i);
    expect(answer?.body).toMatchObject({ status, code });
  });

  it.each([
    ['a byte that is no UTF-8', 'external_id=%FF'],
    ['a part of a character', 'q=%E4'],
    ['a character cut off by another', 'external_id=%C3%28'],
    ['half of a surrogate pair', 'external_id=%ED%A0%80'],
    ['a percent sign alone', 'email=%'],
    ['digits that are not hexadecimal', 'email=%zz'],
    ['a wrong name', '%FF=1'],
    ['a character that is not encoded', 'q=é'],
  ])('because of %s in the query gets 400', async (_, query) => {
    const [answer] = await send(request(`/v1/customers?${query}`, 'Connection: close'));
    expect(answer?.body).toMatchObject({ status: 400, code: 'malformed_request' });
  });

  it('is none that has encoded text and spaces in the query', async () => {
    const query = '?q=%C3%A9+%F0%9F%A6%89%20%25';
    const [answer] = await send(request(`/v1/customers${query}`, 'Connection: close'));
    expect(answer?.body).toMatchObject({ data: [] });
  });

  it.each([
    ['nothing that is HTTP', 'nothing that is HTTP\r\n\r\n'],
    ['a byte after the body', '\0'],
  ])('leaves the answer to the request before it, if it is %s', async (_, bytes) => {
    const body = JSON.stringify({ name: 'Ada' });
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const create = request('/v1/customers', ...headers).replace('GET', 'POST');
    const answers = await send(create, body, bytes);
    expect(answers).toEqual([
      {
        head: expect.stringMatching(/^HTTP\/1\.1 201 [^]*\r\nConnection: close/i) as string,
        body: expect.objectContaining({ name: 'Ada' }) as object,
      },
    ]);
  });
});
