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

  describe('of a process that exits while 3 MB wait', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `${index} ${'x'.repeat(995)}\n`);

    /** @param hasRoom called for each write at the exit; a write fills the pipe with 64 KB */
    function exit(hasRoom: () => boolean): void {
      let isExiting = false;
      const stream = steadyOutput((bytes) => {
        if (!isExiting || !hasRoom()) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
        const part = bytes.subarray(0, 65_536);
        written += Buffer.from(part).toString();
        return part.length;
      });
      for (let first = 0; first < 3_000; first += 20) {
        stream.write(lines.slice(first, first + 20).join(''));
      }
      stream.write('fatal\n');
      const onExit = process.listeners('exit').at(-1) ?? (() => undefined);
      process.off('exit', onExit);
      isExiting = true;
      onExit(0);
      stream.write('stopped\n');
    }

    it('writes all of them to a reader that reads', () => {
      let attempts = 0;
      exit(() => (attempts += 1) % 2 === 0);
      expect(written.length).toBe(lines.join('').length + 'fatal\nstopped\n'.length);
      expect(written.endsWith(`${lines.at(-1) ?? ''}fatal\nstopped\n`)).toBe(true);
    });

    it('writes the oldest and the newest to a slow reader, and how many were lost', () => {
      let attempts = 0;
      const startedAt = performance.now();
      exit(() => {
        jest.advanceTimersByTime(50);
        return (attempts += 1) % 2 === 0;
      });
      const texts = written.split('\n');
      const at = texts.findIndex((text) => text.startsWith('{'));
      const newest = texts.slice(at + 1).join('\n');
      expect(at).toBeGreaterThan(100);
      expect(newest.endsWith('fatal\nstopped\n')).toBe(true);
      expect(`${lines.join('')}fatal\nstopped\n`.endsWith(newest)).toBe(true);
      expect(performance.now() - startedAt).toBeLessThan(3_100);
      const arrived = texts.filter((text) => /^\d+ x{995}$/.test(text)).length;
      expect(JSON.parse(texts[at] ?? '{}')).toMatchObject({ lost: lines.length - arrived });
    });

    it('ends after a second without a reader', () => {
      const startedAt = performance.now();
      exit(() => {
        jest.advanceTimersByTime(100);
        return false;
      });
      expect(written).toBe('');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    });
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
