import { readFile } from 'node:fs/promises';
import { CallScope } from './call-scope';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a value that travels with a call', () => {
  const scope = new CallScope<string>();

  /** Reads the value immediately, after a promise, after reading a file and on the next turn of the event loop. */
  async function seen(): Promise<readonly (string | undefined)[]> {
    const values = [scope.current];
    await Promise.resolve();
    values.push(scope.current);
    await readFile(__filename);
    values.push(scope.current);
    await turn();
    values.push(scope.current);
    return values;
  }

  const all = (value: string | undefined) => [value, value, value, value];

  it('is seen by what the call waits for, and not beside or after it', async () => {
    const beside = seen();
    expect(await scope.run('one', seen)).toEqual(all('one'));
    expect(await beside).toEqual(all(undefined));
    expect(await seen()).toEqual(all(undefined));
  });

  it('is its own in each of many calls that begin and end at different times', async () => {
    const calls = Array.from({ length: 200 }, async (_, index) => {
      for (let round = 0; round < 1 + (index % 7); round += 1) {
        expect(await seen()).toEqual(all(undefined));
        expect(await scope.run(`${index} ${round}`, seen)).toEqual(all(`${index} ${round}`));
        // Other calls may end here, before this one starts its next.
        if (index % 3 === 0) await turn();
      }
    });
    await Promise.all(calls);
    expect(scope.current).toBeUndefined();
  });

  it('is seen by an inner call, which then ends before the outer one', async () => {
    const outer = await scope.run('outer', async () => {
      expect(await scope.run('inner', seen)).toEqual(all('inner'));
      return seen();
    });
    expect(outer).toEqual(all('outer'));
  });

  it('is gone when the call fails, and the calls beside it keep theirs', async () => {
    const failing = scope.run('failing', async () => {
      await turn();
      throw new Error('refused');
    });
    const other = scope.run('other', seen);
    await expect(failing).rejects.toThrow('refused');
    expect(await other).toEqual(all('other'));
    expect(await seen()).toEqual(all(undefined));
  });
});
