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

  const fullPipe = (times: number) => Array.from({ length: times }, () => 'EAGAIN');

  it('writes a line as soon as a full pipe has room, before later lines', () => {
    const stream = output();
    failures = ['EAGAIN', 'EBUSY', 'EAGAIN'];
    stream.write('one: ä\n');
    stream.write('two\n');
    expect(written).toBe('');
    jest.advanceTimersByTime(200);
    expect(written).toBe('one: ä\ntwo\n');
  });

  it('keeps 4 MB for a full pipe, drops further lines, and says how many were lost', () => {
    const stream = output();
    failures = fullPipe(6);
    const line = `${'x'.repeat(1_999_999)}\n`;
    for (const text of [line, line, 'third\n', 'fourth\n']) stream.write(text);
    expect(written).toBe('');

    jest.advanceTimersByTime(1_000);
    stream.write('fifth\n');
    const [one, two, note = '', ...rest] = written.split('\n');
    expect([`${one ?? ''}\n`, `${two ?? ''}\n`]).toEqual([line, line]);
    expect(JSON.parse(note)).toMatchObject({ level: 'error', lost: 2, code: 'EAGAIN' });
    expect(rest).toEqual(['fifth', '']);
  });

  it('waits for a full pipe when the process exits', () => {
    const stream = output();
    failures = fullPipe(4);
    stream.write('last\n');
    process.emit('exit', 0);
    stream.write('stopped\n');
    expect(written).toBe('last\nstopped\n');
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
