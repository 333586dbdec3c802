/**
 * Runs the modules of a test file as Jest does, without preparing each of them again.
 *
 * A test of the service loads some 3,600 modules: 1,000 of this project, the others from packages. Every test file runs all
 * of them in a context of its own, so that no state passes from one file to another. That stays so. But Jest also reads,
 * transforms, resolves and compiles them again for each file, which took more than half of the time of loading. Each worker now
 * keeps, for as long as it lives:
 *
 * - the path that each `require` resolves to, for as long as Jest keeps its own resolver: until files are added or removed;
 * - the transformed source of each file, until its time of modification or its size changes;
 * - the compiled script of each source. V8 can run one compiled script in any number of contexts; each run makes new
 *   functions, classes and objects. Only code is shared.
 *
 * Mocks, `require.cache`, `instanceof` and stack traces are Jest's own. Coverage needs sources that Jest has instrumented:
 * with `--coverage` nothing is shared. The methods replaced here are internals of Jest: if a new version moves them, the
 * constructor throws, and removing `runtime` from jest.config.js runs the tests without this file.
 */
const { statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');

// The copy that Jest itself uses: replacing the methods of another one would have no effect.
const jestCore = createRequire(require.resolve('jest')).resolve('@jest/core');
const { default: Runtime } = createRequire(jestCore)('jest-runtime');

/** Compiled scripts by file name. */
const scripts = new Map();

/** Resolved paths and transformed files by the resolver of a project. */
const projects = new WeakMap();

class SharingRuntime extends Runtime {
  constructor(config, environment, resolver, ...rest) {
    super(config, environment, resolver, ...rest);
    const [, , { collectCoverage }] = rest;
    if (collectCoverage) return;
    if (!projects.has(resolver)) projects.set(resolver, { paths: new Map(), files: new Map() });
    const { paths, files } = projects.get(resolver);
    sharePaths(this._resolution, paths);
    shareFiles(this.transformCache, files);
    shareScripts(this.executor, environment);
  }
}

function sharePaths(resolution, paths) {
  const resolveCached = methodOf(resolution, 'resolveCached');
  resolution.resolveCached = (from, to, cache, options) => {
    if (cache !== resolution.cjsCache) return resolveCached(from, to, cache, options);
    const request = `${from}\0${to}`;
    const known = paths.get(request);
    if (known !== undefined) return known;
    const path = resolveCached(from, to, cache, options);
    paths.set(request, path);
    return path;
  };
}

function shareFiles(transformCache, files) {
  const transform = methodOf(transformCache, 'transform');
  transformCache.transform = (filename, options) => {
    // Modules of Jest itself are not transformed.
    if (options?.isInternalModule) return transform(filename, options);
    const { mtimeMs, size } = statSync(filename);
    const known = files.get(filename);
    if (known?.mtimeMs !== mtimeMs || known.size !== size) {
      const code = transform(filename, options);
      files.set(filename, { mtimeMs, size, result: transformCache.transforms.get(filename) });
      return code;
    }
    const { result } = known;
    transformCache.transforms.set(filename, result);
    if (result.sourceMapPath) transformCache.sourceMaps.set(filename, result.sourceMapPath);
    return result.code;
  };
}

function shareScripts(executor, environment) {
  const compile = methodOf(executor, 'compile');
  // On the first line of the source, with an offset that keeps the lines and columns of stack traces.
  const opening = `(function (${executor.injectedModuleParameters.join(', ')}) {`;
  executor.compile = (source, filename) => {
    const context = environment.getVmContext();
    if (context === null) return null;
    let known = scripts.get(filename);
    if (known?.source !== source || known.opening !== opening) {
      try {
        const script = new Script(`${opening}${source}\n})`, {
          filename,
          columnOffset: -opening.length,
        });
        known = { source, opening, script };
      } catch {
        // Jest explains errors of syntax.
        return compile(source, filename);
      }
      scripts.set(filename, known);
    }
    return known.script.runInContext(context);
  };
}

function methodOf(object, name) {
  if (typeof object?.[name] !== 'function') {
    throw new Error(`This version of Jest has no ${name}(): see test/support/runtime.cjs.`);
  }
  return object[name].bind(object);
}

module.exports = { __esModule: true, default: SharingRuntime };
