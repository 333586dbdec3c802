import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

interface Results {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly name: string; readonly message: string }[];
}

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'test files '));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Runs Jest on files of their own, one after the other in one process, with the runtime of this project. */
function runJest(files: Readonly<Record<string, string>>, options: object): Results {
  for (const [name, lines] of Object.entries(files)) writeFileSync(join(directory, name), lines);
  const config = {
    rootDir: directory,
    cacheDirectory: join(directory, 'cache'),
    runtime: join(ROOT, 'test/support/runtime.cjs'),
    transform: {},
    ...options,
  };
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const { stdout } = spawnSync(
    process.execPath,
    [jest, '--config', JSON.stringify(config), '--runInBand', '--json'],
    { cwd: ROOT, encoding: 'utf8' },
  );
  return JSON.parse(stdout) as Results;
}

describe('test files that share compiled scripts', () => {
  const run = (files: Readonly<Record<string, string>>): Results =>
    runJest(files, { testEnvironment: 'node' });

  it('have modules and classes of their own', () => {
    const test = `const { Counter } = require('./counter');
      it('counts from 0', () => {
        expect(Counter.count++).toBe(0);
        expect(new Counter() instanceof Counter && [] instanceof Array).toBe(true);
        expect(Counter.list instanceof Array && new Counter().error() instanceof Error).toBe(true);
      });`;
    const results = run({
      'counter.js': `class Counter { error() { return new Error(); } }
        Counter.count = 0; Counter.list = []; exports.Counter = Counter;`,
      'first.test.js': test,
      'second.test.js': test,
    });
    expect(results.testResults.map(({ message }) => message)).toEqual(['', '']);
    expect(results.numPassedTests).toBe(2);
  });

  it('run a module again as it is now, when it was changed', () => {
    // Without times of an earlier run, the larger file is the first.
    const results = run({
      'state.js': 'module.exports = 1;',
      'first.test.js': `const { writeFileSync } = require('node:fs');
        it('is the first', () => {
          expect(require('./state')).toBe(1);
          writeFileSync(require.resolve('./state'), 'module.exports = "another";');
        });`,
      'second.test.js': `it('is new', () => { expect(require('./state')).toBe('another'); });`,
    });
    expect(results.testResults.map(({ message }) => message)).toEqual(['', '']);
    expect(results.numPassedTests).toBe(2);
  });

  it('name the line and the column of a failure, also in the first line, in each file', () => {
    const test = `it('fails', () => { require('./thrower')(); });`;
    const results = run({
      'thrower.js': `module.exports = () => { throw new TypeError('here'); };`,
      'first.test.js': test,
      'second.test.js': test,
    });
    expect(results.testResults).toHaveLength(2);
    for (const { message } of results.testResults) {
      expect(message).toContain('TypeError: here');
      expect(message).toContain('thrower.js:1:32');
      expect(message).toMatch(/(first|second)\.test\.js:1:41/);
    }
  });
});

describe('test files that share modules', () => {
  const run = (files: Readonly<Record<string, string>>): Results =>
    runJest(files, {
      testEnvironment: join(ROOT, 'test/support/environment.cjs'),
      testEnvironmentOptions: { sharedModules: ['/shared'] },
    });

  /** Counts the files that have run it, and has a method. */
  const counter = `let count = 0;
    exports.next = () => ++count;
    exports.Service = class Service { answer() { return 42; } };`;

  const failures = ({ testResults }: Results): readonly string[] =>
    testResults.map(({ message }) => message);

  it('run a shared module once, and their own each', () => {
    const test = (place: number): string => `const { next } = require('./own');
      it('is the ${place}.', () => {
        expect([next(), require('./shared').next()]).toEqual([1, ${place}]);
      });`;
    const results = run({
      'shared.js': counter,
      'own.js': counter,
      // Without times of an earlier run, the larger file is the first.
      'first.test.js': `${test(1)} //`,
      'second.test.js': test(2),
    });
    expect(failures(results)).toEqual(['', '']);
  });

  it('load a module through the file that runs, and see one set of builtin classes', () => {
    const results = run({
      'shared.js': `exports.late = () => require('./shared-late'); exports.list = () => [new Error('x')];`,
      'shared-late.js': `exports.isLate = true;`,
      'first.test.js': `it('loads shared.js', () => { expect(require('./shared').list()).toEqual([new Error('x')]); }); //`,
      'second.test.js': `it('loads more', () => { expect(require('./shared').late()).toEqual({ isLate: true }); });`,
    });
    expect(failures(results)).toEqual(['', '']);
  });

  it('begin with the methods, the environment variables and the time limit of a new process', () => {
    const test = `const { Service } = require('./shared');
      it('begins', () => {
        expect([new Service().answer(), process.env.ADDED, setTimeout.clock]).toEqual([42, undefined, undefined]);
        jest.spyOn(Service.prototype, 'answer').mockReturnValue(1);
        jest.useFakeTimers();
        process.env.ADDED = 'x';
      });`;
    const results = run({
      'shared.js': counter,
      'first.test.js': `jest.setTimeout(1); ${test}`,
      'second.test.js': test.replace(
        '() => {',
        'async () => { await new Promise((done) => setTimeout(done, 20));',
      ),
    });
    expect(failures(results)).toEqual(['', '']);
  });

  it('begin without the asynchronous storages of earlier files, which every promise would copy', () => {
    const test = (
      place: number,
    ): string => `const { executionAsyncResource } = require('node:async_hooks');
      const { counts } = require('./shared');
      it('is the ${place}.', async () => {
        await null;
        counts.push(Object.getOwnPropertySymbols(executionAsyncResource()).length);
        expect(counts).toEqual(Array(${place}).fill(counts[0]));
      });`;
    const results = run({
      'shared.js': 'exports.counts = [];',
      'first.test.js': `${test(1)} //`,
      'second.test.js': test(2),
    });
    expect(failures(results)).toEqual(['', '']);
  });

  it('fail when they leave a shared class changed, and the next file has it as it was', () => {
    const results = run({
      'shared.js': counter,
      'first.test.js': `it('changes', () => {
        require('./shared').Service.prototype.answer = () => 1; // and leaves it so
      });`,
      'second.test.js': `it('is', () => { expect(new (require('./shared').Service)().answer()).toBe(42); });`,
    });
    expect(failures(results)).toEqual([
      expect.stringContaining('leaves Service.answer changed'),
      '',
    ]);
  });

  it('have modules of their own when they say so, and only then mock one', () => {
    const mock = `it('mocks', () => {
      jest.doMock('./shared', () => ({ next: () => 'mocked' }));
      expect(require('./shared').next()).toBe('mocked');
    });`;
    const results = run({
      'shared.js': counter,
      'first.test.js': `/** @own-modules mocks one */ ${mock}`,
      'second.test.js': mock,
    });
    expect(failures(results)).toEqual(['', expect.stringContaining('@own-modules')]);
  });

  it('name the line and the column of a failure in a module that another file has loaded', () => {
    const test = `it('fails', () => { require('./shared')(); });`;
    const results = run({
      'shared.js': `module.exports = () => { throw new TypeError('here'); };`,
      'first.test.js': test,
      'second.test.js': test,
    });
    expect(results.testResults).toHaveLength(2);
    for (const { message } of results.testResults) {
      expect(message).toContain('shared.js:1:32');
      expect(message).toMatch(/(first|second)\.test\.js:1:40/);
    }
  });
});
