const { availableParallelism } = require('node:os');

/**
 * Runs all test suites. `pure` needs only the code; `database` runs on a real PostgreSQL that the global set-up starts (or
 * on TEST_DATABASE_URL), with one migrated template database that each test application clones. `browser` opens the built
 * console in a Chromium.
 */
const transform = {
  '^.+\\.(t|m?j)s$': [
    '@swc/jest',
    {
      jsc: {
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        target: 'es2023',
        keepClassNames: true,
      },
      module: { type: 'commonjs' },
    },
  ],
};

/** Packages that ship only ES modules, which Jest must compile. */
const esModulesOnly = [
  '@nestjs',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  '@borewit',
  '@tokenizer',
  'request-filtering-agent',
  'temporal-polyfill',
  'temporal-spec',
  'temporal-utils',
  'openid-client',
  'oauth4webapi',
  'jose',
  'oidc-provider',
];

const shared = {
  rootDir: __dirname,
  // The test files of a worker share the modules of the service and of packages.
  runtime: '<rootDir>/test/support/runtime.cjs',
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  testEnvironmentOptions: {
    sharedModules: [
      String.raw`/node_modules/`,
      String.raw`/(?:src|packages|migrations)/(?!.*\.spec\.ts$)`,
      // Compiles the schemas of the OpenAPI document.
      String.raw`/test/support/documented-answers\.ts$`,
    ],
  },
  transform,
  setupFiles: ['<rootDir>/test/support/seed.ts'],
  transformIgnorePatterns: [`/node_modules/(?!(${esModulesOnly.join('|')})/)`],
};

// For workers, and for processes that tests start. While an application starts, and while a worker has several, most new
// objects stay: in a young generation of 16 MB, the default, V8 copies them again and again.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --max-semi-space-size=64`;

module.exports = {
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
  // Far longer than any test takes, so that a busy machine fails no test.
  testTimeout: 180_000,
  // One less than the cores, as by default, but three on two cores, because tests often wait for the database.
  maxWorkers: Math.max(3, availableParallelism() - 1),
  // Suites collect their garbage (`environment.cjs`). This replaces a worker in which something else stays.
  workerIdleMemoryLimit: '1GB',
  projects: [
    { ...shared, displayName: 'pure', testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'database',
      testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
    {
      ...shared,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.browser-spec.ts'],
      globalSetup: '<rootDir>/test/support/browser-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
