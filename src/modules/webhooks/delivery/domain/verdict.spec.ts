import { reachableFrom } from '../../../../core/states';
import { DELIVERY_STATUSES, DELIVERY_TRANSITIONS } from './delivery';
import { judge } from './verdict';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const answered = (statusCode: number, retryAfter: string | null = null) => ({
  statusCode,
  retryAfter,
});

describe('the verdict on an attempt', () => {
  it.each([200, 201, 202, 204, 299])('%i is success', (status) => {
    expect(judge(answered(status), 1, NOW, 0.5)).toEqual({ status: 'succeeded' });
  });

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 404, 408, 409, 429, 500, 502, 503])(
    '%i is tried again',
    (status) => {
      expect(judge(answered(status), 1, NOW, 0.5)).toEqual({
        status: 'pending',
        dueAt: new Date('2026-03-01T00:00:05.000Z'),
      });
    },
  );

  it('no answer is tried again', () => {
    expect(judge({ statusCode: null }, 2, NOW, 0.5)).toEqual({
      status: 'pending',
      dueAt: new Date('2026-03-01T00:05:00.000Z'),
    });
  });

  it('the tenth failure is the last', () => {
    expect(judge(answered(500), 9, NOW, 0.5)).toMatchObject({ status: 'pending' });
    expect(judge(answered(500), 10, NOW, 0.5)).toEqual({ status: 'failed' });
  });

  it('410 says that the endpoint is gone', () => {
    expect(judge(answered(410), 1, NOW, 0.5)).toEqual({ status: 'discarded' });
  });

  it('Retry-After moves the next attempt, up to twice the pause', () => {
    expect(judge(answered(429, '8'), 1, NOW, 0.5)).toMatchObject({
      dueAt: new Date('2026-03-01T00:00:08.000Z'),
    });
    expect(judge(answered(503, '3600'), 1, NOW, 0.5)).toMatchObject({
      dueAt: new Date('2026-03-01T00:00:10.000Z'),
    });
  });

  it('every status can be reached from pending', () => {
    expect([...reachableFrom(DELIVERY_TRANSITIONS, 'pending')].sort()).toEqual(
      [...DELIVERY_STATUSES].sort(),
    );
  });
});
