import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { Configuration } from '../../src/platform/config';
import { OutboundHttp } from '../../src/platform/outbound';
import { webhookPolicy } from '../../src/platform/outbound/outbound.module';
import { HostResolver } from '../../src/platform/outbound/resolver';
import { type Canary, rawReceiver, startCanary } from '../support/raw-receivers';

const HERE = ['127.0.0.1'];
const ELSEWHERE = ['93.184.216.34'];

/** Resolves names from a script: each name to a list of answers, the last one repeated. Unknown names do not exist. */
class ScriptedResolver extends HostResolver {
  readonly asked: string[] = [];

  constructor(private readonly names: Readonly<Record<string, readonly (readonly string[])[]>>) {
    super();
  }

  override async resolve(host: string): Promise<readonly string[]> {
    const answers = this.names[host];
    if (answers === undefined) throw new Error('There is no such name.');
    const times = this.asked.filter((name) => name === host).length;
    this.asked.push(host);
    return answers[Math.min(times, answers.length - 1)] ?? [];
  }
}

const ANY_PORT = { WEBHOOKS_ALLOWED_PORTS: '*' };
const PUBLIC_ONLY = { WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'false' };
const PRIVATE_TOO = { WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' };

/** Hosts that lead to this machine or into a network that is not public; every port is allowed. */
const HOSTS = [
  // Spellings of 127.0.0.1.
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0X7F.0x0.0x0.0x1',
  '0x7f000001',
  '017700000001',
  '0177.0.0.01',
  '2130706433',
  '127.0.0.1.',
  '0x7f.1.',
  '１２７.０.０.１',
  '127。0。0。1',
  '127．0．0．1',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '0x',
  // Names for it.
  'localhost',
  'LOCALHOST',
  'localhost.',
  'ⓛocalhost',
  'lo\u{ad}calhost',
  '%6cocalhost',
  'any.localhost',
  'any.localhost.',
  // IPv6, alone and around an IPv4 address.
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000::0001]',
  '[::]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::80ff:fffe]',
  '[2606:4700::5efe:7f00:1]',
  // Other networks.
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[2001:10::1]',
  '[2001:db8::1]',
  '[fc00::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  // Metadata services.
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '168.63.129.16',
  '100.100.100.200',
];

/** Addresses that a name may not resolve to, alone or beside others. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'here.example': HERE,
  'here6.example': ['::1'],
  'everywhere.example': ['0.0.0.0'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'compatible.example': ['::7f00:1'],
  'translated.example': ['64:ff9b::7f00:1'],
  'metadata.example': ['169.254.169.254'],
  'neighbour.example': ['fe80::1%lo'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mixed6.example': ['2606:4700::1111', '::1'],
  'name.example': ['localhost'],
  'spelled.example': ['0x7f.1'],
};

/** Texts that are not URLs, or contain something that is not allowed. `PORT` stands for a port of the canary. */
const OTHERS = [
  'http://[fe80::1%25lo]:PORT/',
  'http://[::1%25lo]:PORT/',
  'http://127.0.0.1%00.example.com:PORT/',
  'http://127.0.0.1:PORT:80/',
  'http://user@127.0.0.1:PORT/',
  'http://example.com:80@127.0.0.1:PORT/',
  'http://user:password@here.example:PORT/',
  'ftp://127.0.0.1:PORT/',
  'ws://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/_POST',
  'file:///etc/passwd',
  'data:application/json,{}',
  'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  '//127.0.0.1:PORT/',
  '127.0.0.1:PORT',
  '',
];

describe('calls to addresses that customers enter', () => {
  let canary: Canary;
  const opened: OutboundHttp[] = [];

  beforeAll(async () => {
    canary = await startCanary();
  });

  afterEach(() => {
    for (const http of opened.splice(0)) http.close();
  });

  afterAll(() => canary.close());

  function open(
    environment: Readonly<Record<string, string>>,
    resolver: HostResolver = new ScriptedResolver({}),
  ): OutboundHttp {
    const http = new OutboundHttp(webhookPolicy(new Configuration(environment)), resolver);
    opened.push(http);
    return http;
  }

  function post(http: OutboundHttp, url: string) {
    return http.post({ url, headers: {}, body: '{}', deadlineMs: 10_000, keepBytes: 100 });
  }

  /** Asserts that the URL is refused at registration and at sending, and that nothing was called. */
  async function expectRefused(http: OutboundHttp, ...urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      expect([url, await http.checkTarget(url)]).toEqual([url, expect.stringMatching(/^must /)]);
      await expect(post(http, url)).rejects.toMatchObject({ reason: 'blocked' });
    }
    expect(await canary.settledConnections()).toBe(0);
  }

  const urlsOf = (host: string): readonly string[] =>
    canary.ports.map((port) => `http://${host}:${port}/`);

  it.each(HOSTS)('never go to %j', async (host) => {
    const port = canary.ports[0] ?? 0;
    const http = open({ ...PUBLIC_ONLY, ...ANY_PORT });
    await expectRefused(http, ...urlsOf(host), `https://${host}:${port}/`);
  });

  it.each(Object.entries(NAMES))('never go to %s, which is %j', async (name, addresses) => {
    const resolver = new ScriptedResolver({ [name]: [addresses], [`${name}.`]: [addresses] });
    const http = open({ ...PUBLIC_ONLY, ...ANY_PORT }, resolver);
    const port = canary.ports[0] ?? 0;
    await expectRefused(http, ...urlsOf(name), `https://${name}:${port}/`, `http://${name}.:80/`);
  });

  it.each(OTHERS)('never go to %j, whatever is allowed', async (template) => {
    const resolver = new ScriptedResolver({ 'here.example': [HERE] });
    const urls = canary.ports.map((port) => template.replace('PORT', String(port)));
    await expectRefused(open({ ...PUBLIC_ONLY, ...ANY_PORT }, resolver), ...urls);
    await expectRefused(open({ ...PRIVATE_TOO, ...ANY_PORT }, resolver), ...urls);
  });

  it.each([22, 25, 81, 5432, 6379, 0])('never go to port %d unless it is allowed', async (port) => {
    const resolver = new ScriptedResolver({ 'public.example': [ELSEWHERE] });
    const http = open(PUBLIC_ONLY, resolver);
    await expectRefused(http, `http://public.example:${port}/`, `https://93.184.216.34:${port}/`);
    expect(resolver.asked).toEqual([]);
    const ports = { WEBHOOKS_ALLOWED_PORTS: '443,444' };
    await expectRefused(open({ ...PRIVATE_TOO, ...ports }), ...urlsOf('127.0.0.1'));
  });

  it('check the address again each time, for names whose address changes', async () => {
    const resolver = new ScriptedResolver({ 'changing.example': [ELSEWHERE, HERE] });
    const http = open({ ...PUBLIC_ONLY, ...ANY_PORT }, resolver);
    const [url = ''] = urlsOf('changing.example');
    expect(await http.checkTarget(url)).toBeNull();
    await expect(post(http, url)).rejects.toMatchObject({ reason: 'blocked' });
    expect(await canary.settledConnections()).toBe(0);
  });

  it('connect to the checked address, without another look-up', async () => {
    const resolver = new ScriptedResolver({ 'changing.example': [HERE, ['127.0.0.2'], ['::1']] });
    const seen: string[] = [];
    const receiver = await rawReceiver((socket) => {
      seen.push(socket.localAddress ?? '');
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const answer = await post(
      open(PRIVATE_TOO, resolver),
      `http://changing.example:${receiver.port}`,
    );
    expect(answer.status).toBe(204);
    expect(seen).toEqual(HERE);
    expect(resolver.asked).toEqual(['changing.example']);
    await receiver.close();
  });

  it('can be registered for a name that does not resolve yet, but fail', async () => {
    const http = open({ ...PUBLIC_ONLY, ...ANY_PORT });
    const [url = ''] = urlsOf('missing.example');
    expect(await http.checkTarget(url)).toBeNull();
    await expect(post(http, url)).rejects.toMatchObject({ reason: 'dns' });
    const empty = open(PUBLIC_ONLY, new ScriptedResolver({ 'empty.example': [[]] }));
    expect(await empty.checkTarget('http://empty.example')).toBeNull();
    await expect(post(empty, 'http://empty.example')).rejects.toMatchObject({ reason: 'dns' });
  });

  it('resolve the name at registration only where private networks are refused', async () => {
    const resolver = new ScriptedResolver({ 'metadata.example': [['169.254.169.254']] });
    const http = open(PRIVATE_TOO, resolver);
    expect(await http.checkTarget('http://metadata.example/')).toBeNull();
    expect(resolver.asked).toEqual([]);
    const call = post(http, 'http://metadata.example/');
    await expect(call).rejects.toMatchObject({ reason: 'blocked' });
  });

  it.each([301, 302, 303, 307, 308])('do not follow a %d', async (status) => {
    const [location = ''] = urlsOf('127.0.0.1');
    const receiver = await rawReceiver((socket) =>
      socket.end(`HTTP/1.1 ${status} Away\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
    );
    const answer = await post(open(PRIVATE_TOO), `http://127.0.0.1:${receiver.port}/`);
    expect(answer.status).toBe(status);
    expect(receiver.connections).toBe(1);
    expect(await canary.settledConnections()).toBe(0);
    await receiver.close();
  });

  /** Checks the library without this project's additions: both ways to name a host pass through its agents. */
  it.each(['http', 'https'])('of %s agents are refused by address and by name', async (kind) => {
    const options = {
      lookup: (_: string, __: object, found: (error: null, list: object[]) => void) =>
        found(null, [{ address: '127.0.0.1', family: 4 }]),
    };
    const isSecure = kind === 'https';
    const agent = isSecure
      ? new RequestFilteringHttpsAgent(options as object)
      : new RequestFilteringHttpAgent(options as object);
    const [port] = canary.ports;
    for (const host of ['127.0.0.1', '::1', '::ffff:127.0.0.1', 'here.example']) {
      const call = (isSecure ? requestHttps : requestHttp)({ host, port, agent });
      const failed = new Promise((resolve) => call.once('error', resolve));
      call.end();
      expect(await failed).toMatchObject({ message: expect.stringMatching(/is not allowed/) });
    }
    agent.destroy();
    expect(await canary.settledConnections()).toBe(0);
  });

  /** Runs last: it connects to the canary, which proves that the canary could be reached before. */
  it('reach private networks where they are allowed', async () => {
    const resolver = new ScriptedResolver({ 'here.example': [HERE], 'here6.example': [['::1']] });
    const http = open(PRIVATE_TOO, resolver);
    const [first = 0, second = 0, third = 0, ipv6 = 0] = canary.ports;
    const urls = [
      `http://127.0.0.1:${first}`,
      `http://2130706433:${second}`,
      `http://127.1:${third}`,
      `http://[::1]:${ipv6}`,
      `http://here.example:${third}`,
      `http://here6.example:${ipv6}`,
    ];
    for (const url of urls) {
      expect([url, await http.checkTarget(url)]).toEqual([url, null]);
      expect(await post(http, url)).toMatchObject({ status: 200, bodyStart: 'canary' });
    }
    expect(await canary.settledConnections()).toBe(urls.length);
  });
});
