/**
 * Runs all test files of a worker in one context, that of the worker itself. Only then can `runtime.cjs` give them the
 * same modules.
 *
 * By default, Jest makes a context for each file. V8 then has to optimize the code again, access to globals is slow,
 * and memory grows with each file. This environment restores everything that a file can change: environment variables,
 * timers, mocks, and globals of Jest.
 *
 * With `--coverage` and in watch mode, each file has a context of its own, as by default.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { createRequire } = require('node:module');
const { setFlagsFromString } = require('node:v8');
const { createContext, runInNewContext } = require('node:vm');
const { SharedModules } = require('./shared-modules.cjs');

// Resolves the copies of these packages that Jest itself loads.
const core = createRequire(require.resolve('jest')).resolve('@jest/core');
const config = createRequire(core).resolve('jest-config');
const environment = createRequire(config).resolve('jest-environment-node');
const { TestEnvironment } = createRequire(config)('jest-environment-node');
const { ModernFakeTimers } = createRequire(environment)('@jest/fake-timers');
const { ModuleMocker } = createRequire(environment)('jest-mock');

/** Symbols of the globals in which Jest stores data about a single file. */
const OF_ONE_FILE = /^(?:JEST_STATE_SYMBOL|EVENT_HANDLERS|TEST_TIMEOUT_SYMBOL|RETRY_\w+)$/;

/**
 * Async storages that a file has used. Jest creates one for each file and never disables it. On Node 20, every promise
 * copies the values of all enabled storages. After 25 files, this took a sixth of the time of a worker.
 */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;

/**
 * Size of the heap above which garbage is collected at the end of a file. Jest replaces a worker that uses more than 1
 * GB (`workerIdleMemoryLimit`), even if most of it is garbage, and a new worker must load and optimize all modules
 * again.
 */
const MAX_HEAP_BYTES = 700e6;
setFlagsFromString('--expose-gc');
// Makes V8 optimize only functions that run eight times as long as by default, because optimizing took 4 % of a test run.
setFlagsFromString('--interrupt-budget=540000');
const collectGarbage = runInNewContext('gc');

class WorkerEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  /** Null if the file uses modules of its own. */
  sharedModules = null;
  #shared = new SharedModules();
  #context = createContext({});
  #initial = {
    env: { ...process.env },
    exit: process.exit,
    getBuiltinModule: process.getBuiltinModule,
    console: globalThis.console,
  };

  constructor(projectConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    globalThis.global = globalThis;
    AsyncLocalStorage.prototype.run = function (...given) {
      storages.add(this);
      return run.apply(this, given);
    };
  }

  begin({ docblockPragmas }) {
    this.sharedModules = docblockPragmas['own-modules'] === undefined ? this.#shared : null;
  }

  forgetModules() {
    this.#shared = new SharedModules();
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const storage of storages) storage.disable();
    storages.clear();
    const { env, exit, getBuiltinModule, console } = this.#initial;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    Object.assign(process, { exit, getBuiltinModule });
    globalThis.console = console;
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (OF_ONE_FILE.test(key.description)) delete globalThis[key];
    }
    if (process.memoryUsage().heapUsed > MAX_HEAP_BYTES) collectGarbage();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Returns a context in which Jest only parses code, to explain a syntax error. Tests do not run in this context. */
  getVmContext() {
    return this.#context;
  }
}

let worker = null;

/** Returns the environment that the files of a worker share, or, for coverage and watch mode, a new one for this file. */
module.exports = class Environment {
  constructor(config, context) {
    const { collectCoverage, watch, watchAll } = config.globalConfig;
    if (collectCoverage || watch || watchAll) return new TestEnvironment(config, context);
    worker ??= new WorkerEnvironment(config.projectConfig);
    worker.begin(context);
    return worker;
  }
};
