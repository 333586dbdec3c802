/**
 * One command, every ring. `pure` needs nothing but the code; `database` runs on a real PostgreSQL that the global
 * set-up starts (or on TEST_DATABASE_URL), with one migrated template database cloned for each test file.
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

/** Packages that ship ES modules only; the runtime loads them natively, Jest has to compile them. */
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
];

const shared = {
  rootDir: __dirname,
  testEnvironment: 'node',
  transform,
  setupFiles: ['<rootDir>/test/support/seed.ts'],
  transformIgnorePatterns: [`/node_modules/(?!(${esModulesOnly.join('|')})/)`],
};

module.exports = {
  // Far beyond what a test takes: a busy machine is no finding.
  testTimeout: 60_000,
  projects: [
    { ...shared, displayName: 'pure', testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'database',
      testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
