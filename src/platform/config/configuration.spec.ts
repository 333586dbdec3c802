import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Configuration, ConfigurationError } from './configuration';
import { SETTINGS } from './settings';

const DATABASE_URL = 'postgres://billing@db.example.com/billing';
const ENCRYPTION_KEYS = `a:${Buffer.alloc(32).toString('base64')}`;
const GIVEN = { DATABASE_URL, ENCRYPTION_KEYS };

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
    ['DATABASE_URL', `${DATABASE_URL}?sslmode=bogus`],
    ['DATABASE_URL', `${DATABASE_URL}?sslmode=`],
    ['DATABASE_URL', 'postgres://billing:se%cret@db.example.com/billing'],
    ['DATABASE_POOL_SIZE', '1'],
    ['DATABASE_STATEMENT_TIMEOUT_MS', '99'],
    ['MIGRATION_WAIT_MS', '3600001'],
    ['DATA_DIR', ''],
    ['ENCRYPTION_KEYS', ''],
    ['ENCRYPTION_KEYS', 'nope'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ''],
    ['ROLE', 'ALL'],
    ['AUTH', 'keys'],
    ['AUTH_OPEN_ACKNOWLEDGED', 'yes'],
    ['WEBHOOKS_ALLOW_PRIVATE_NETWORKS', 'yes'],
    ['PAYMENT_PROVIDERS', ''],
    ['PAYMENT_PROVIDERS', 'sandbox,'],
    ['PAYMENT_PROVIDERS', 'Sandbox'],
    ['IDEMPOTENCY_KEYS', 'mandatory'],
    ['USAGE_RETENTION_MONTHS', '2'],
    ['USAGE_ARCHIVE_DIRECTORY', ''],
    ['STRIPE_MODE', 'production'],
    ['STRIPE_SECRET_KEY', 'pk_test_abcdefgh'],
    ['STRIPE_WEBHOOK_SECRETS', 'whsec_a'],
    ['STRIPE_API_URL', 'api.example.com'],
    ['STRIPE_EVENTS_MAX_AGE_MINUTES', '1'],
    ['PUBLIC_URL', 'billing.example.com'],
    ['OIDC_CLIENT_SECRET', ' '],
    ['OIDC_ALLOWED_DOMAINS', '*'],
    ['OIDC_UNKNOWN_ADMINS', 'yes'],
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

  it.each(['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'])(
    'accepts the sslmode %s',
    (mode) => {
      const url = `${DATABASE_URL}?sslmode=${mode}`;
      expect(new Configuration({ DATABASE_URL: url }).databaseUrl).toBe(url);
    },
  );

  it.each([
    [{ STRIPE_MODE: 'test' }, ['STRIPE_MODE: PAYMENT_PROVIDERS does not name stripe']],
    [
      { PUBLIC_URL: 'https://billing.example.com', OIDC_CLIENT_ID: 'billing' },
      ['PUBLIC_URL: OIDC_ISSUER is not set', 'OIDC_CLIENT_ID: OIDC_ISSUER is not set'],
    ],
    [
      { USAGE_ARCHIVE_DIRECTORY: '/a' },
      ['USAGE_ARCHIVE_DIRECTORY: USAGE_RETENTION_MONTHS is not set'],
    ],
    [
      { AUTH: 'required', AUTH_OPEN_ACKNOWLEDGED: 'true' },
      ['AUTH_OPEN_ACKNOWLEDGED: AUTH is "required"'],
    ],
    [{ PUBLIC_DOCS: 'false' }, ['PUBLIC_DOCS: AUTH is "open"']],
    [{ ...GIVEN, DATA_DIR: '/data' }, ['DATA_DIR: DATABASE_URL and ENCRYPTION_KEYS are set']],
    [{ ...GIVEN, OTEL_SERVICE_NAME: 'billing', PORT: '3001', AUTH: 'required' }, []],
    [{ PAYMENT_PROVIDERS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_abcdefgh', DATA_DIR: '/data' }, []],
  ])('with %j, these settings have no effect: %j', (environment, expected) => {
    expect(new Configuration(environment).ineffective).toEqual(expected);
  });

  it('exports traces only to a receiver that is set', () => {
    const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base' };
    expect(new Configuration({ OTEL_SERVICE_NAME: 'billing' }).tracing).toBe(false);
    expect(new Configuration(receiver).tracing).toBe(true);
  });

  it.each([
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
  ])('checks %s only if traces are exported', (variable, text) => {
    const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(new Configuration({ [variable]: text }).tracing).toBe(false);
    expect(() => new Configuration({ ...receiver, [variable]: text })).toThrow(variable);
  });

  it('does not show the password of a wrong receiver of traces', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'grpc://me:hunter2@collector:4317';
    expect(() => new Configuration({ OTEL_EXPORTER_OTLP_ENDPOINT })).toThrow(/^((?!hunter2).)*$/);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'billing.example.com'])(
    'open access on %s starts only when acknowledged',
    (host) => {
      expect(() => new Configuration({ HOST: host })).toThrow(/AUTH_OPEN_ACKNOWLEDGED/);
      const acknowledged = { ...GIVEN, HOST: host, AUTH_OPEN_ACKNOWLEDGED: 'true' };
      expect(new Configuration(acknowledged).host).toBe(host);
      expect(new Configuration({ ...GIVEN, HOST: host, ROLE: 'worker' }).host).toBe(host);
    },
  );

  it.each([
    [{}, /so DATABASE_URL and ENCRYPTION_KEYS must be set/],
    [{ DATABASE_URL }, /so ENCRYPTION_KEYS must be set/],
    [{ ENCRYPTION_KEYS }, /so DATABASE_URL must be set/],
  ])('with %j, a host beyond loopback requires a database and a key', (environment, message) => {
    const beyond = { HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' };
    expect(() => new Configuration({ ...beyond, ...environment })).toThrow(message);
    expect(() => new Configuration({ ...beyond, ...environment, ROLE: 'worker' })).toThrow(message);
  });

  it('a retention of usage requires a directory for the archive', () => {
    const USAGE_RETENTION_MONTHS = '13';
    expect(() => new Configuration({ USAGE_RETENTION_MONTHS })).toThrow(
      /USAGE_ARCHIVE_DIRECTORY must be set/,
    );
    const both = { USAGE_RETENTION_MONTHS, USAGE_ARCHIVE_DIRECTORY: '/archive' };
    expect(new Configuration(both).usageArchive).toEqual({
      retentionMonths: 13,
      directory: '/archive',
    });
    expect(new Configuration({ USAGE_ARCHIVE_DIRECTORY: '/archive' }).usageArchive).toBeNull();
  });

  it('a worker requires DATABASE_URL', () => {
    expect(() => new Configuration({ ROLE: 'worker' })).toThrow(/so DATABASE_URL must be set/);
    expect(new Configuration({ ROLE: 'worker', DATABASE_URL }).role).toBe('worker');
  });

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('open access on %s starts', (host) => {
    expect(new Configuration({ HOST: host }).host).toBe(host);
  });

  it.each([
    [{ HOST: '127.0.0.1' }, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' }, false],
    // A worker has no HTTP interface of its own; its callers reach another process, whose HOST is unknown here.
    [{ ROLE: 'worker' }, false],
    [{ ROLE: 'worker', WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' }, true],
    [{ WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'false' }, false],
  ])('with %j lets webhooks into private networks: %s', (environment, expected) => {
    const configuration = new Configuration({ ...GIVEN, ...environment });
    expect(configuration.webhooksAllowPrivateNetworks).toBe(expected);
    expect(configuration.webhooksAllowedPorts).toEqual(expected ? 'any' : [80, 443, 8080, 8443]);
  });

  it.each([
    [{ HOST: '127.0.0.1' }, ['sandbox', 'manual']],
    [{ HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' }, ['manual']],
    [{ ROLE: 'worker' }, ['manual']],
    [{ ROLE: 'worker', PAYMENT_PROVIDERS: 'manual, sandbox' }, ['manual', 'sandbox']],
    [{ PAYMENT_PROVIDERS: 'sandbox' }, ['sandbox']],
  ])('with %j switches on the payment providers %j', (environment, expected) => {
    expect(new Configuration({ ...GIVEN, ...environment }).paymentProviders).toEqual(expected);
  });

  describe('with an OpenID provider', () => {
    const OPENID = {
      OIDC_ISSUER: 'https://login.example.com/realms/staff/',
      OIDC_CLIENT_ID: 'billing',
      OIDC_CLIENT_SECRET: 'secret',
      OIDC_ALLOWED_DOMAINS: 'example.com, EXAMPLE.org',
      PUBLIC_URL: 'https://billing.example.com/',
    };
    const of = (environment: object) => new Configuration({ ...GIVEN, ...OPENID, ...environment });

    it('knows who may sign in', () => {
      expect(of({}).openId).toEqual({
        issuer: OPENID.OIDC_ISSUER,
        clientId: 'billing',
        clientSecret: 'secret',
        redirectUrl: 'https://billing.example.com/v1/session/oidc/callback',
        allowedDomains: ['example.com', 'example.org'],
        roleClaim: null,
        roles: new Map(),
        createsUnknownAdmins: false,
        allowPrivateNetworks: false,
      });
      const roles = { OIDC_ROLE_CLAIM: 'groups', OIDC_ROLES: 'a=b=owner, staff = admin' };
      expect(of({ ...roles, OIDC_UNKNOWN_ADMINS: 'create' }).openId).toMatchObject({
        roleClaim: 'groups',
        roles: new Map([
          ['a=b', 'owner'],
          ['staff', 'admin'],
        ]),
        createsUnknownAdmins: true,
      });
      expect(new Configuration({ OIDC_CLIENT_ID: 'billing' }).openId).toBeNull();
    });

    it.each([
      [{ OIDC_CLIENT_SECRET: undefined }, /OIDC_CLIENT_SECRET must be set/],
      [{ OIDC_ALLOWED_DOMAINS: undefined }, /OIDC_ALLOWED_DOMAINS must be set/],
      [{ PUBLIC_URL: undefined }, /PUBLIC_URL must be set/],
      [{ OIDC_CLIENT_SECRET: ' ' }, /^OIDC_CLIENT_SECRET is something else/],
      [{ OIDC_ISSUER: 'http://login.example.com' }, /^OIDC_ISSUER is/],
      [{ OIDC_ISSUER: 'https://a:b@login.example.com' }, /^OIDC_ISSUER is/],
      [{ OIDC_ISSUER: 'http://localhost:8080' }, /OIDC_ALLOW_PRIVATE_NETWORKS must be true/],
      [{ PUBLIC_URL: 'billing.example.com' }, /^PUBLIC_URL is/],
      [{ OIDC_ALLOWED_DOMAINS: '*' }, /^OIDC_ALLOWED_DOMAINS is/],
      [{ OIDC_ALLOWED_DOMAINS: '@example.com' }, /^OIDC_ALLOWED_DOMAINS is/],
      [{ OIDC_ROLE_CLAIM: 'groups' }, /must be set together/],
      [{ OIDC_ROLES: 'a=owner' }, /must be set together/],
      [{ OIDC_ROLE_CLAIM: 'groups', OIDC_ROLES: 'a=king' }, /^OIDC_ROLES is/],
      [{ OIDC_ROLE_CLAIM: 'groups', OIDC_ROLES: '=owner' }, /^OIDC_ROLES is/],
      [{ OIDC_UNKNOWN_ADMINS: 'yes' }, /^OIDC_UNKNOWN_ADMINS is/],
    ])('refuses %j', (environment, message) => {
      expect(() => of(environment)).toThrow(message);
    });
  });

  describe('with stripe', () => {
    const TEST_KEY = 'sk_test_abcdefgh';
    const LIVE_KEY = 'rk_live_abcdefgh';
    const of = (environment: object) =>
      new Configuration({ ...GIVEN, PAYMENT_PROVIDERS: 'stripe', ...environment });

    it('reads the key, and the secrets of webhooks', () => {
      const secrets = { STRIPE_WEBHOOK_SECRETS: 'whsec_newsecret, whsec_oldsecret' };
      expect(of({ STRIPE_SECRET_KEY: TEST_KEY, ...secrets }).stripe).toEqual({
        secretKey: TEST_KEY,
        isLive: false,
        webhookSecrets: ['whsec_newsecret', 'whsec_oldsecret'],
        eventsMaxAgeMinutes: 10,
        apiUrl: null,
      });
      const live = { STRIPE_SECRET_KEY: LIVE_KEY, STRIPE_MODE: 'live', AUTH: 'required' };
      expect(of(live).stripe).toMatchObject({ isLive: true });
      expect(new Configuration({ STRIPE_SECRET_KEY: TEST_KEY }).stripe).toBeNull();
    });

    it.each([
      [{}, /^STRIPE_SECRET_KEY must be set/],
      [{ STRIPE_SECRET_KEY: 'pk_test_abcdefgh' }, /^STRIPE_SECRET_KEY is something else/],
      [{ STRIPE_SECRET_KEY: LIVE_KEY }, /is a live key, but STRIPE_MODE is "test"/],
      [
        { STRIPE_SECRET_KEY: TEST_KEY, STRIPE_MODE: 'live', AUTH: 'required' },
        /is a test key, but STRIPE_MODE is "live"/,
      ],
      [{ STRIPE_SECRET_KEY: LIVE_KEY, STRIPE_MODE: 'live' }, /AUTH must be "required"/],
      [
        {
          STRIPE_SECRET_KEY: LIVE_KEY,
          STRIPE_MODE: 'live',
          AUTH: 'required',
          PAYMENT_PROVIDERS: 'stripe,sandbox',
        },
        /must not name sandbox/,
      ],
      [{ STRIPE_SECRET_KEY: TEST_KEY, STRIPE_WEBHOOK_SECRETS: 'whsec_a' }, /WEBHOOK_SECRETS is/],
    ])('and %j refuses to start', (environment, message) => {
      expect(() => of(environment)).toThrow(message);
      expect(() => of(environment)).not.toThrow(/abcdefgh/);
    });
  });

  it.each([
    ['*', 'any'],
    ['443', [443]],
    ['443, 8443', [443, 8443]],
  ])('reads %j as the ports %j', (text, expected) => {
    const environment = { WEBHOOKS_ALLOWED_PORTS: text };
    expect(new Configuration(environment).webhooksAllowedPorts).toEqual(expected);
  });

  it('is described by the table in docs/configuration.md, row by row', () => {
    const page = readFileSync(join(__dirname, '../../../docs/configuration.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)];
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      Object.entries(SETTINGS).map(([variable, { fallback, accepts, meaning }]) => [
        variable,
        fallback === undefined ? '-' : `\`${fallback}\``,
        accepts,
        meaning,
      ]),
    );
  });
});
