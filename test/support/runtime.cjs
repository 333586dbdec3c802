/**
 * Runs the modules of a test file as Jest does, but shares loaded modules between test files.
 *
 * A test of the service loads some 3,600 modules: 1,000 of this project, the others from packages. In the environment
 * of `environment.cjs`, a worker runs each module only for the first test file that requires it; later files use the
 * same module. Only the test file itself and the support code of tests run in each file. A file that needs modules of
 * its own begins with a comment `@own-modules` and the reason. In other files, `jest.mock` is refused, and a file that
 * leaves a shared class changed fails.
 *
 * For modules that run again, each worker caches the following data:
 *
 * - the path to which each `require` resolves, until files are added or removed, when Jest makes a new resolver;
 * - the transformed source of each file, until its time of modification or its size changes;
 * - the compiled script of each source. V8 can run a compiled script in any number of contexts. Each run makes new
 * functions, classes and objects, so only code is shared.
 *
 * Mocks, `require.cache`, `instanceof` and stack traces work as in Jest. With `--coverage` nothing is shared, because
 * coverage needs sources that Jest has instrumented. This file replaces internal methods of Jest. If a new version of
 * Jest lacks them, the constructor throws. To run tests without this file, remove `runtime` and `testEnvironment` from
 * jest.config.js.
 */
const { statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { sep } = require('node:path');
const { Script } = require('node:vm');
const { ModuleRegistry } = require('./shared-modules.cjs');

// Uses the copy that Jest itself loads, because replacing the methods of another copy would have no effect.
const jestCore = createRequire(require.resolve('jest')).resolve('@jest/core');
const { default: Runtime } = createRequire(jestCore)('jest-runtime');

const PACKAGES = `${sep}node_modules${sep}`;
const OWN = 'Otherwise begin the file with a comment `@own-modules` and the reason.';

/** Compiled scripts by file name. */
const scripts = new Map();

/** Paths of source maps by file name. Includes shared modules, which an earlier test file has transformed. */
const sourceMaps = new Map();

/** Resolved paths and transformed files of each project. The key is the resolver of the project. */
const projects = new WeakMap();

class SharingRuntime extends Runtime {
  #shared = null;

  constructor(config, environment, resolver, ...rest) {
    super(config, environment, resolver, ...rest);
    const [, , { collectCoverage }] = rest;
    if (collectCoverage) return;
    if (!projects.has(resolver)) projects.set(resolver, { paths: new Map(), files: new Map() });
    const { paths, files } = projects.get(resolver);
    sharePaths(this._resolution, paths);
    shareFiles(this.transformCache, files);
    shareScripts(this.executor, environment);
    this.transformCache.sourceMaps = sourceMaps;
    if (environment.sharedModules) {
      this.#shared = environment.sharedModules;
      shareModules(this, this.#shared, config);
    }
  }

  setMock(...mock) {
    if (this.#shared !== null) throw new Error(`jest.mock needs modules of the file's own. ${OWN}`);
    super.setMock(...mock);
  }

  /** @throws if the test file leaves a shared class changed. After that, the next file loads all modules again. */
  teardown() {
    super.teardown();
    const changed = this.#shared?.methods.findChanged() ?? null;
    if (changed === null) return;
    this._environment.forgetModules();
    throw new Error(`The test file leaves ${changed} changed. Restore it. ${OWN}`);
  }
}

/** Lets the file use the modules that earlier files have loaded. */
function shareModules(runtime, shared, { testEnvironmentOptions }) {
  const { executor, registries, requireBuilder } = runtime;
  if (!(registries.moduleRegistry instanceof Map)) throw new Error(movedIn('moduleRegistry'));
  const patterns = testEnvironmentOptions.sharedModules.map((source) => new RegExp(source));
  const isShared = (path) => patterns.some((pattern) => pattern.test(path));
  registries.moduleRegistry = new ModuleRegistry(shared.byPath, isShared);
  // A shared module requires other modules through the file that runs now, not through the file that loaded it.
  shared.runtime = runtime;
  methodOf(requireBuilder, 'requireDispatch');
  requireBuilder.requireDispatch = (from, name) => shared.runtime.requireModuleOrMock(from, name);
  const exec = methodOf(executor, 'exec');
  executor.exec = (module, ...rest) => {
    const outcome = exec(module, ...rest);
    if (isShared(module.filename) && !module.filename.includes(PACKAGES)) {
      shared.methods.record(module.exports);
    }
    return outcome;
  };
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
  // Puts the opening on the first line of the source. `columnOffset` keeps lines and columns of stack traces correct.
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
        // Jest throws an error that explains the syntax error.
        return compile(source, filename);
      }
      scripts.set(filename, known);
    }
    const isOwnContext = environment.global === globalThis;
    return isOwnContext ? known.script.runInThisContext() : known.script.runInContext(context);
  };
}

function methodOf(object, name) {
  if (typeof object?.[name] !== 'function') throw new Error(movedIn(name));
  return object[name].bind(object);
}

function movedIn(name) {
  return `This version of Jest has no ${name}: see test/support/runtime.cjs.`;
}

module.exports = { __esModule: true, default: SharingRuntime };
