import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

/** Returns the rows of the table below a heading, without its head. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [part = ''] = section.split('\n## ');
  const rows = part.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

describe('docs/security.md', () => {
  const promises = rowsBelow('Threats and promises').map(
    ([threat = '', , test = '']) => [threat.trim(), test] as const,
  );

  it('lists promises, all risks of the OWASP API Top 10, and requirements of the ASVS', () => {
    expect(promises.length).toBeGreaterThan(20);
    expect(rowsBelow('OWASP API Security Top 10 (2023)')).toHaveLength(10);
    expect(rowsBelow('OWASP ASVS 5.0').length).toBeGreaterThan(15);
  });

  it.each(promises)('names existing tests that prove the promise about: %s', (_, test) => {
    const files = [...test.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    const missing = files.filter(
      (file) => !['', '.ts', '.e2e-spec.ts'].some((ending) => isFile(`${file}${ending}`)),
    );
    expect(missing).toEqual([]);
  });

  function isFile(path: string): boolean {
    return path.endsWith('.ts') && existsSync(join(ROOT, path));
  }
});
