import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeVersionProblem } from './supported-node';

const textOf = (path: string): string => readFileSync(join(__dirname, path), 'utf8');

describe('the version of Node', () => {
  it.each(['16.20.2', '18.20.8', '20.0.0', '20.18.3', '21.7.3', '22.11.0'])(
    '%s is refused in one sentence',
    (version) => {
      expect(nodeVersionProblem(version)).toMatch(/^This is Node [\d.]+, but .*\.$/);
    },
  );

  it.each(['20.19.0', '20.20.2', '22.12.0', '23.0.0', '24.1.0', '26.0.0'])('%s runs', (version) => {
    expect(nodeVersionProblem(version)).toBeNull();
  });

  it('is looked at before anything else is loaded, by what itself loads nothing', () => {
    expect(/^import .*$/m.exec(textOf('main.ts'))?.[0]).toBe("import './supported-node';");
    expect(textOf('supported-node.ts')).not.toMatch(/\b(import|require)\b.*['(]/);
  });
});
