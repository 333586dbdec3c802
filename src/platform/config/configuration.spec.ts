import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Configuration, ConfigurationError } from './configuration';
import { SETTINGS } from './settings';

describe('the configuration', () => {
  it('needs no variable at all', () => {
    const configuration = new Configuration({});
    expect(configuration).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      databaseUrl: null,
      dataDirectory: resolve('.data'),
      encryptionKeys: null,
      role: 'all',
      auth: 'open',
      webhooksAllowPrivateNetworks: true,
      webhooksAllowedPorts: 'any',
      logLevel: 'info',
    });
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3e3'],
    ['PORT', ''],
    ['HOST', ' '],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'localhost'],
    ['DATABASE_POOL_SIZE', '1'],
    ['DATA_DIR', ''],
    ['ENCRYPTION_KEYS', ''],
    ['ENCRYPTION_KEYS', 'nope'],
    ['ROLE', 'ALL'],
    ['AUTH', 'keys'],
    ['AUTH_OPEN_ACKNOWLEDGED', 'yes'],
    ['WEBHOOKS_ALLOW_PRIVATE_NETWORKS', 'yes'],
    ['PAYMENT_RETRY_DAYS', '0'],
    ['PAYMENT_RETRY_DAYS', '1,,3'],
    ['PAYMENT_RETRY_DAYS', '61'],
    ['PAYMENT_RETRY_DAYS', '1,1,1,1,1,1,1,1,1,1,1'],
    ['WEBHOOKS_ALLOWED_PORTS', ''],
    ['WEBHOOKS_ALLOWED_PORTS', '0'],
    ['WEBHOOKS_ALLOWED_PORTS', '65536'],
    ['WEBHOOKS_ALLOWED_PORTS', '80,'],
    ['WEBHOOKS_ALLOWED_PORTS', '80,*'],
    ['WEBHOOKS_ALLOWED_PORTS', '80-90'],
    ['LOG_LEVEL', 'verbose'],
    ['SHUTDOWN_TIMEOUT_MS', '1.5'],
    ['NDJSON_IDLE_TIMEOUT_MS', '0'],
  ])('a wrong %s (%j) stops the start and is named', (variable, text) => {
    expect(() => new Configuration({ [variable]: text })).toThrow(ConfigurationError);
    expect(() => new Configuration({ [variable]: text })).toThrow(new RegExp(`^${variable} is `));
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'billing.example.com'])(
    'open access on %s starts only when acknowledged',
    (host) => {
      expect(() => new Configuration({ HOST: host })).toThrow(/AUTH_OPEN_ACKNOWLEDGED/);
      expect(new Configuration({ HOST: host, AUTH_OPEN_ACKNOWLEDGED: 'true' }).host).toBe(host);
      expect(new Configuration({ HOST: host, ROLE: 'worker' }).host).toBe(host);
    },
  );

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('open access on %s starts', (host) => {
    expect(new Configuration({ HOST: host }).host).toBe(host);
  });

  it.each([
    [{ HOST: '127.0.0.1' }, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' }, false],
    // Nobody calls a worker: those who can are on the other end of the database.
    [{ ROLE: 'worker' }, false],
    [{ ROLE: 'worker', WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' }, true],
    [{ WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'false' }, false],
  ])('with %j lets webhooks into private networks: %s', (environment, expected) => {
    const configuration = new Configuration(environment);
    expect(configuration.webhooksAllowPrivateNetworks).toBe(expected);
    expect(configuration.webhooksAllowedPorts).toEqual(expected ? 'any' : [80, 443, 8080, 8443]);
  });

  it.each([
    ['*', 'any'],
    ['443', [443]],
    ['443, 8443', [443, 8443]],
  ])('reads %j as the ports %j', (text, expected) => {
    const environment = { WEBHOOKS_ALLOWED_PORTS: text };
    expect(new Configuration(environment).webhooksAllowedPorts).toEqual(expected);
  });

  it('is described by the table in the README, row by row', () => {
    const readme = readFileSync(join(__dirname, '../../../README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)];
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      Object.entries(SETTINGS).map(([variable, { fallback, accepts, meaning }]) => [
        variable,
        fallback === null ? '-' : `\`${fallback}\``,
        accepts,
        meaning,
      ]),
    );
  });
});
