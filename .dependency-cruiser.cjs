/**
 * The import rules (docs/architecture.md). `npm run imports` checks them, and proves on a tree of its own that each
 * rule can fail: scripts/imports/controls.mjs holds one violation per rule.
 *
 * `$1` in `to` is what the first group of `from` matched: the module the importing file belongs to.
 */
const { LAYERS } = require('./scripts/imports/layers.cjs');

const ANY_MODULE = '^src/modules/([^/]+)/';
const SAME_MODULE = '^src/modules/$1/';
/** A large module has folders for its parts, each of the same shape as a small module. */
const atAnyDepth = (path) => `(?:${path}|.+/${path})`;
const TESTS = '\\.(e2e-)?spec\\.ts$';

/** The only packages a pure rule may use: a list of currencies, and calendar arithmetic. */
const PURE_PACKAGES = 'node_modules/(currency-codes|temporal-polyfill)/';

const alternatives = (names) => `(${names.join('|')})`;

const layerRules = LAYERS.map((modules, depth) => ({
  name: `layers-${modules.join('-')}`,
  severity: 'error',
  comment: `${modules.join(' and ')} import modules of lower layers only: not each other, and nothing above.`,
  from: { path: `^src/modules/${alternatives(modules)}/` },
  to: {
    path: `^src/modules/${alternatives(LAYERS.slice(0, depth + 1).flat())}/`,
    pathNot: SAME_MODULE,
  },
}));

const rules = [
  {
    name: 'core-is-pure',
    comment:
      'A rule in core depends on core and a few pure packages: no Nest, no TypeORM, no Node API.',
    from: { path: '^src/core/', pathNot: TESTS },
    to: { pathNot: ['^src/core/', PURE_PACKAGES] },
  },
  {
    name: 'domain-is-pure',
    comment:
      'domain/ depends on core and itself: no Nest, no TypeORM, no DTO, no entity, no other module.',
    from: { path: `${ANY_MODULE}${atAnyDepth('domain/')}`, pathNot: TESTS },
    to: { pathNot: ['^src/core/', `${SAME_MODULE}${atAnyDepth('domain/')}`, PURE_PACKAGES] },
  },
  {
    name: 'platform-knows-no-module',
    comment:
      'The platform is technical; it knows neither a business module nor how the app is put together.',
    from: { path: '^src/platform/' },
    to: { path: '^src/', pathNot: ['^src/platform/', '^src/core/'] },
  },
  {
    name: 'platform-through-its-index',
    comment: 'Modules use what a part of the platform exports on purpose, not its insides.',
    from: { path: '^src/(modules/|[^/]+\\.ts$)', pathNot: TESTS },
    to: { path: '^src/platform/[^/]+/(?!index\\.ts$)' },
  },
  {
    name: 'modules-through-their-index',
    comment: 'Another module is its index.ts: what it exports on purpose.',
    from: { path: ANY_MODULE },
    to: { path: '^src/modules/[^/]+/(?!index\\.ts$)', pathNot: SAME_MODULE },
  },
  {
    name: 'app-through-the-index-of-modules',
    comment: 'What puts the app together uses the same door.',
    from: { path: '^src/[^/]+\\.ts$' },
    to: { path: '^src/modules/[^/]+/(?!index\\.ts$)' },
  },
  {
    name: 'modules-have-a-layer',
    comment: 'A new module gets its place in scripts/imports/layers.cjs first.',
    from: {},
    to: { path: '^src/modules/', pathNot: `^src/modules/${alternatives(LAYERS.flat())}/` },
  },
  ...layerRules,
  {
    name: 'dto-at-the-edge',
    comment:
      'The wire stays at the edge: dto/ is used by the controllers, dto/ and the events of its own module; ' +
      'alone what the routes of billing take and show is exported by the modules that own it.',
    from: {
      pathNot: [
        `${ANY_MODULE}${atAnyDepth('dto/')}`,
        '\\.(controller|events)\\.ts$',
        // The routes of workflows answer with the objects of several modules, each in the shape of the module that owns it.
        '^src/modules/(coupons|invoicing|catalog|metering|meters|payments|refunds|subscriptions|customers)/index\\.ts$',
        '^test/',
      ],
    },
    to: { path: `${ANY_MODULE}${atAnyDepth('dto/')}` },
  },
  {
    name: 'entities-with-their-repository',
    comment:
      'A table belongs to one module: its entity is used by its repositories and its module file.',
    from: {
      path: '^src/modules/',
      pathNot: '\\.(repository|module|entity)\\.ts$',
    },
    to: { path: '^src/modules/.+\\.entity\\.ts$' },
  },
  {
    name: 'controllers-ask-services',
    comment:
      'A controller maps and calls its service; every query goes through the use case that decides.',
    from: { path: '^src/modules/.+\\.controller\\.ts$' },
    to: { path: '\\.repository\\.ts$' },
  },
  {
    name: 'services-know-no-http',
    comment: 'HTTP ends at the controller: a service is called by jobs and other modules as well.',
    from: { path: '^src/modules/.+\\.(service|workflow|repository)\\.ts$' },
    to: { path: ['^src/platform/http/', 'node_modules/(@types/)?express/'] },
  },
  {
    name: 'no-cycles',
    comment: 'Files that need each other are one file, or one of them knows too much.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-orphans',
    comment: 'Nobody imports it and it imports nothing: delete it.',
    from: { orphan: true, path: '^(src|packages)/', pathNot: '^src/main\\.ts$' },
    to: {},
  },
  {
    name: 'src-knows-only-src',
    comment: 'What runs in production does not reach for tests, benchmarks, scripts or migrations.',
    from: { path: '^src/', pathNot: TESTS },
    to: { path: '^(test|bench|scripts|migrations|studio)/' },
  },
  {
    name: 'studio-knows-only-the-api',
    comment: 'The console runs in a browser and knows the service by its HTTP API alone.',
    from: { path: '^studio/src/' },
    to: { path: '^(src|packages|test|bench|scripts|migrations)/' },
  },
  {
    name: 'packages-stand-alone',
    comment: 'A part under packages/ could be published: it uses npm packages and itself.',
    from: { path: '^packages/([^/]+)/', pathNot: TESTS },
    to: { path: '^(src|packages|test|bench|scripts|migrations)/', pathNot: '^packages/$1/' },
  },
  {
    name: 'packages-through-their-index',
    comment: 'The service uses what a package exports on purpose, not its insides.',
    from: { path: '^(src|bench)/' },
    to: { path: '^packages/[^/]+/(?!index\\.ts$)' },
  },
  {
    name: 'nothing-imports-a-spec',
    comment: 'Tests share helpers through test/support.',
    from: {},
    to: { path: TESTS },
  },
  {
    name: 'migrations-stand-alone',
    comment: 'A migration does the same for ever; code it imported would change under it.',
    from: { path: '^migrations/' },
    to: { path: '^(src|packages|test|bench|scripts)/' },
  },
  {
    name: 'src-uses-runtime-packages',
    comment: 'A package used at run time stands under dependencies in package.json.',
    from: { path: '^(src|packages|migrations)/', pathNot: TESTS },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      // Types alone (@types/express) are gone when the code runs.
      dependencyTypesNot: ['type-only'],
      pathNot: 'node_modules/@types/',
    },
  },
  {
    name: 'imports-resolve',
    comment: 'An import that resolves to nothing would slip past every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: rules.map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
};
