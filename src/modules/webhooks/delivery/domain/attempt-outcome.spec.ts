import { classifyReply, isGone } from './attempt-outcome';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const answered = (statusCode: number, retryAfter: string | null = null) => ({
  statusCode,
  retryAfter,
});

describe('the outcome of an attempt', () => {
  it.each([200, 201, 202, 204, 299])('%i is success', (status) => {
    expect(classifyReply(answered(status), 1, NOW, 0.5)).toEqual({ status: 'succeeded' });
  });

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 404, 408, 409, 410, 429, 500, 502, 503])(
    '%i is tried again',
    (status) => {
      expect(classifyReply(answered(status), 1, NOW, 0.5)).toEqual({
        status: 'pending',
        dueAt: new Date('2026-03-01T00:00:05.000Z'),
      });
    },
  );

  it('no answer is tried again', () => {
    expect(classifyReply({ statusCode: null }, 2, NOW, 0.5)).toEqual({
      status: 'pending',
      dueAt: new Date('2026-03-01T00:05:00.000Z'),
    });
  });

  it('the tenth failure is the last', () => {
    expect(classifyReply(answered(500), 9, NOW, 0.5)).toMatchObject({ status: 'pending' });
    expect(classifyReply(answered(500), 10, NOW, 0.5)).toEqual({ status: 'failed' });
  });

  it('410 says that the endpoint is gone', () => {
    expect([200, 404, 410].filter((status) => isGone(answered(status)))).toEqual([410]);
    expect(isGone({ statusCode: null })).toBe(false);
  });

  it('Retry-After moves the next attempt, up to twice the pause', () => {
    expect(classifyReply(answered(429, '8'), 1, NOW, 0.5)).toMatchObject({
      dueAt: new Date('2026-03-01T00:00:08.000Z'),
    });
    expect(classifyReply(answered(503, '3600'), 1, NOW, 0.5)).toMatchObject({
      dueAt: new Date('2026-03-01T00:00:10.000Z'),
    });
  });
});
