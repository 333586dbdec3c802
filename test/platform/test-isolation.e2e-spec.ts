import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

interface Results {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly name: string; readonly message: string }[];
}

/** Runs Jest on files of their own, one after the other in one process, with the runtime of this project. */
describe('test files that share compiled scripts', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'test files '));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  function run(files: Readonly<Record<string, string>>): Results {
    for (const [name, lines] of Object.entries(files)) writeFileSync(join(directory, name), lines);
    const config = {
      rootDir: directory,
      cacheDirectory: join(directory, 'cache'),
      testEnvironment: 'node',
      runtime: join(ROOT, 'test/support/runtime.cjs'),
      transform: {},
    };
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    const { stdout } = spawnSync(
      process.execPath,
      [jest, '--config', JSON.stringify(config), '--runInBand', '--json'],
      { cwd: ROOT, encoding: 'utf8' },
    );
    return JSON.parse(stdout) as Results;
  }

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
