import { Logger } from '@nestjs/common';
import { OutageLog } from './outage-log';

/** Error of the server for a session that it has no connection for. */
const NO_CONNECTION = Object.assign(new Error('too many clients'), {
  code: '53300',
  severity: 'FATAL',
});
const NO_ANSWER = new Error('Query read timeout');

describe('the log of outages', () => {
  let now: number;
  let outage: OutageLog;
  let lines: object[];

  beforeEach(() => {
    now = 0;
    outage = new OutageLog(() => now);
    lines = [];
    const record = (line: object): void => void lines.push(line);
    jest.spyOn(Logger.prototype, 'error').mockImplementation(record);
    jest.spyOn(Logger.prototype, 'log').mockImplementation(record);
  });

  afterEach(() => jest.restoreAllMocks());

  function failAt(time: number, error: Error, waitedMs = 0): void {
    now = time;
    outage.recordFailure(error, time - waitedMs);
  }

  function answerAt(time: number): void {
    now = time;
    outage.recordAnswer();
  }

  it('counts the wait of the first call to a frozen database, and the time until it answers', () => {
    answerAt(1_000);
    failAt(36_200, NO_ANSWER, 35_000);
    failAt(60_000, NO_ANSWER, 35_000);
    answerAt(62_200);
    expect(lines).toEqual([
      expect.objectContaining({ failures: 1, for_ms: 35_000 }),
      expect.objectContaining({ failures: 1, for_ms: 58_800 }),
    ]);
    answerAt(70_000);
    expect(lines[2]).toEqual({ lasted_ms: 61_000 });
  });

  it('begins no earlier than the last answer to another call', () => {
    answerAt(30_000);
    failAt(36_000, NO_ANSWER, 35_000);
    expect(lines).toEqual([expect.objectContaining({ for_ms: 6_000 })]);
  });

  it('counts failures between answers, as of a server without free connections, as one outage', () => {
    for (let time = 0; time <= 20_000; time += 4_000) {
      failAt(time, NO_CONNECTION);
      answerAt(time + 3_000);
    }
    expect(lines).toEqual([
      expect.objectContaining({ code: '53300', failures: 1, for_ms: 0 }),
      expect.objectContaining({ code: '53300', failures: 3, for_ms: 12_000 }),
    ]);
    answerAt(30_000);
    expect(lines[2]).toEqual({ lasted_ms: 23_000 });
  });

  it('ignores errors of a statement', () => {
    failAt(0, Object.assign(new Error('duplicate key'), { code: '23505', severity: 'ERROR' }));
    expect(lines).toEqual([]);
  });
});
