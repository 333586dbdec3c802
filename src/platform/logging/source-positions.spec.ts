import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/core';

const compile = (path: string, source: string) =>
  transformSync(source, {
    filename: path,
    sourceMaps: true,
    swcrc: false,
    configFile: false,
    module: { type: 'commonjs' },
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  });

describe('stack traces of compiled files', () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'source positions ')));

  afterAll(() => rmSync(directory, { recursive: true }));

  function traceOf(source: string, keepsMap: boolean): string {
    const path = join(directory, 'failing.ts');
    const { code, map } = compile(path, source);
    writeFileSync(join(directory, 'failing.js'), code);
    rmSync(join(directory, 'failing.js.map'), { force: true });
    const relative = JSON.stringify({
      ...(JSON.parse(map ?? '') as object),
      sources: ['failing.ts'],
    });
    if (keepsMap) writeFileSync(join(directory, 'failing.js.map'), relative);
    const shown = compile(
      'source-positions.ts',
      readFileSync(join(__dirname, 'source-positions.ts'), 'utf8'),
    );
    writeFileSync(join(directory, 'source-positions.js'), shown.code);
    const script = `require('./source-positions').showSourcePositions();
      try { [0].map(() => require('./failing').fail()); } catch (error) { process.stdout.write(error.stack); }`;
    return execFileSync(process.execPath, ['-e', script], { cwd: directory, encoding: 'utf8' });
  }

  const SOURCE = `interface Removed {\n  readonly a: string;\n}\n\nexport function fail(): Removed {\n  throw new Error('the message');\n}\n`;

  it('name the position in the source', () => {
    const [message, first, ...others] = traceOf(SOURCE, true).split('\n');
    expect(message).toBe('Error: the message');
    expect(first).toBe(`    at Object.fail (${join(directory, 'failing.ts')}:6:9)`);
    expect(others).toContain('    at Array.map (<anonymous>)');
  });

  it('name the position in the compiled file if it has no map', () => {
    expect(traceOf(SOURCE, false)).toContain(join(directory, 'failing.js'));
  });
});
