/**
 * Runs a TypeScript file in a Node process of its own, for tests that need several processes or have to kill one:
 *
 *     node test/support/run-ts.cjs <file.ts> [arguments]
 *
 * Modules are compiled on `require` by swc, with the settings of Jest, so that no build is needed. A test run starts
 * some 100 processes that load up to 3,600 files each, so results are cached (see `loading-cache.cjs`). ES modules in
 * packages are compiled too, as in Jest. With `PACKAGES=installed`, packages are loaded as in production.
 */
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');
const { keep, keepPaths, keepScripts, read } = require('./loading-cache.cjs');

const packages = `${sep}node_modules${sep}`;
// Part of the cache key, because other settings or another version of swc compile to different code.
const compiler = createHash('sha256')
  .update(readFileSync(__filename))
  .update(readFileSync(require.resolve('@swc/core/package.json')))
  .digest('hex');

/** Paths of source maps by file name. */
const maps = new Map();

/** Returns the code of a file as a CommonJS module. Reads it from the cache, or compiles the file. */
function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const digest = createHash('sha256').update(`${compiler}\0${filename}\0${source}`).digest('hex');
  maps.set(filename, `${digest}.map`);
  const known = read(`${digest}.js`);
  if (known !== null) return known;
  const { code, map } = transform(source, filename);
  keep(`${digest}.map`, map);
  keep(`${digest}.js`, code);
  return code;
}

function transform(source, filename) {
  // Loads swc only when needed, because loading it takes longer than reading all cached files.
  const { transformSync } = require('@swc/core');
  const isTypeScript = filename.endsWith('.ts');
  return transformSync(source, {
    filename,
    swcrc: false,
    configFile: false,
    sourceMaps: true,
    module: { type: 'commonjs' },
    jsc: {
      parser: { syntax: isTypeScript ? 'typescript' : 'ecmascript', decorators: isTypeScript },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
      keepClassNames: true,
    },
  });
}

const compileNatively = Module._extensions['.ts'];
Module._extensions['.ts'] = (module, filename) => {
  if (filename.includes(packages) && compileNatively) compileNatively(module, filename);
  else module._compile(compiled(filename), filename, 'commonjs');
};

/** Compiles ES modules of packages to CommonJS, because V8 cannot cache the code of ES modules for other processes. */
function compileEsModules() {
  const loadCommonJs = Module._extensions['.js'];
  const folders = new Map();
  const isEsFolder = (folder) => {
    if (!folders.has(folder)) folders.set(folder, readType(folder));
    return folders.get(folder);
  };
  const readType = (folder) => {
    try {
      return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type === 'module';
    } catch {
      return folder !== dirname(folder) && isEsFolder(dirname(folder));
    }
  };
  const load = (module, filename) => {
    const isEsModule = filename.endsWith('.mjs') || isEsFolder(dirname(filename));
    if (isEsModule) module._compile(compiled(filename), filename, 'commonjs');
    else loadCommonJs(module, filename);
  };
  Module._extensions['.js'] = load;
  Module._extensions['.mjs'] = load;
}

/** Lets stack traces show positions in the TypeScript source. Reads a source map only when a stack trace needs it. */
function showSourcePositions() {
  const parsed = new Map();
  const mapOf = (filename) => {
    if (parsed.has(filename)) return parsed.get(filename);
    const map = maps.has(filename) ? read(maps.get(filename)) : null;
    parsed.set(filename, map === null ? null : new Module.SourceMap(JSON.parse(map)));
    return parsed.get(filename);
  };
  const shown = (site) => {
    const entry = mapOf(site.getFileName())?.findEntry(
      site.getLineNumber() - 1,
      site.getColumnNumber() - 1,
    );
    if (entry?.originalLine === undefined) return String(site);
    const position = `:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    return String(site).replace(/:\d+:\d+(?=\)?$)/, position);
  };
  Error.prepareStackTrace = (error, sites) =>
    [String(error), ...sites.map((site) => `    at ${shown(site)}`)].join('\n');
}

if (require.main === module) {
  const [, , file, ...rest] = process.argv;
  if (!file) throw new Error('Usage: node test/support/run-ts.cjs <file.ts> [arguments]');
  const entry = resolve(file);
  process.argv.splice(1, process.argv.length, entry, ...rest);
  showSourcePositions();
  if (process.env.PACKAGES !== 'installed') {
    compileEsModules();
    keepPaths();
    keepScripts(compiler, maps);
  }
  require(entry);
}
