import { steadyOutput } from './steady-output';

describe('steady output', () => {
  let written = '';
  /** Number of bytes that the disk has room for. */
  let room = Infinity;
  /** Errors of the next writes. */
  let failures: string[] = [];

  const output = () =>
    steadyOutput((bytes) => {
      const code = failures.shift() ?? (room === 0 ? 'ENOSPC' : undefined);
      if (code !== undefined) throw Object.assign(new Error(code), { code });
      const part = bytes.subarray(0, room);
      room -= part.length;
      written += Buffer.from(part).toString();
      return part.length;
    });

  beforeEach(() => {
    jest.useFakeTimers();
    written = '';
    room = Infinity;
    failures = [];
  });

  afterEach(() => jest.useRealTimers());

  it('writes a line in parts, also when a pipe is full', () => {
    failures = ['EAGAIN', 'EBUSY'];
    output().write('one: ä\n');
    expect(written).toBe('one: ä\n');
  });

  it('goes on after the disk was full, and says how many lines were lost', () => {
    const stream = output();
    room = 10;
    stream.write('first\n');
    stream.write('2nd\nthird\n');
    stream.write('fourth\n');
    room = Infinity;
    stream.write('fifth\n');
    expect(written).toBe('first\n2nd\n');

    jest.advanceTimersByTime(1_000);
    stream.write('sixth\n');
    const [one, two, note = '', ...rest] = written.split('\n');
    expect([one, two, rest]).toEqual(['first', '2nd', ['sixth', '']]);
    expect(JSON.parse(note)).toEqual({
      level: 'error',
      time: new Date().toISOString(),
      context: 'logging',
      lost: 3,
      code: 'ENOSPC',
      msg: 'log lines were lost, because they could not be written',
    });

    stream.write('seventh\n');
    expect(written.split('\n').at(-2)).toBe('seventh');
  });

  it('counts on while the disk stays full, and ends a line that was written in part', () => {
    const stream = output();
    room = 3;
    stream.write('first\n');
    jest.advanceTimersByTime(1_000);
    stream.write('second\n');
    room = Infinity;
    jest.advanceTimersByTime(1_000);
    stream.write('third\n');
    expect(written).toMatch(/^fir\n\{.*"lost":2,.*\}\nthird\n$/);
  });
});
