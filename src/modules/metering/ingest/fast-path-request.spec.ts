import type { StreamName } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import { FastPathRequest } from './fast-path-request';

const NOW = new Date('2026-03-01T12:00:00Z');

/** Returns an event of a customer; by default its key is its index. */
function event(index: number, customer: number, key = String(index), at = NOW): IncomingEvent {
  return {
    index,
    idempotencyKey: key,
    customerId: `cus_${customer}`,
    eventName: 'call',
    timestamp: at,
    properties: {},
  };
}

describe('events of a list', () => {
  /**
   * The streams of customers 0 to 9 are cached. The streams of customers 5 to 9 are billed until now. The stream of
   * customer 4 has a registered window that ends now.
   */
  const cachedOf = ({ customerId }: StreamName) => {
    const customer = Number(customerId.slice(4));
    if (customer >= 10) return undefined;
    const openFromMs = customer < 5 ? 0 : NOW.getTime();
    const windowsEndMs = customer === 4 ? NOW.getTime() : 0;
    return { id: String(customer), version: '1', openFromMs, windowsEndMs, sessionChanges: 1 };
  };

  /** Returns the indexes of the events of each part, and of the rest. */
  const split = (events: readonly IncomingEvent[]) => {
    const { parts, rest } = FastPathRequest.split(events, 2, cachedOf, NOW);
    const indexesOf = (some: readonly IncomingEvent[]) => some.map(({ index }) => index);
    return [parts.map((part) => indexesOf(part.events)), indexesOf(rest)];
  };

  const before = new Date(NOW.getTime() - 1);
  const later = new Date(NOW.getTime() + 1);

  it.each([
    ['of each shard are a part', [event(0, 1), event(1, 2), event(2, 3)], [[[0, 2], [1]], []]],
    ['of a stream that is not cached are the rest', [event(0, 10), event(1, 1)], [[[1]], [0]]],
    [
      'of a stream with an event in a billed period are the rest',
      [event(0, 5), event(1, 1), event(2, 5, '2', before)],
      [[[1]], [0, 2]],
    ],
    [
      'of a stream with an event in the future are the rest',
      [event(0, 1), event(1, 2), event(2, 1, '2', later)],
      [[[1]], [0, 2]],
    ],
    [
      'of a stream with an event in a registered window are a part of their own',
      [event(0, 4), event(1, 2), event(2, 4, '2', before)],
      [[[0, 2], [1]], []],
    ],
    [
      'after the registered windows of their stream are a part with others',
      [event(0, 4), event(1, 2)],
      [[[0, 1]], []],
    ],
    [
      'of several streams are the rest if a key is repeated',
      [event(0, 1, 'a'), event(1, 3, 'b'), event(2, 3, 'a')],
      [[], [0, 1, 2]],
    ],
    ['of one stream may repeat a key', [event(0, 1, 'a'), event(1, 1, 'a')], [[[0, 1]], []]],
  ])('%s', (_, events, expected) => {
    expect(split(events)).toEqual(expected);
  });
});
