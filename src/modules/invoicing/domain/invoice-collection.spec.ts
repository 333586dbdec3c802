import type { Invoice } from './invoice';
import {
  firstAttemptAt,
  closeCollectionAt,
  nextAttemptAt,
  type RetryPlan,
} from './invoice-collection';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const LATER = new Date('2026-03-04T00:00:00.000Z');

/** Plans up to three attempts. */
const retry: RetryPlan = (attemptCount, now) =>
  attemptCount === 0 ? now : attemptCount < 3 ? LATER : null;

const open = {
  status: 'open',
  collection: 'automatic',
  subscriptionId: 'sub_01h455vb4pex5vsknk084sn02q',
  attemptCount: 1,
  collectAt: null,
  amountPending: 0n,
} as Invoice;

describe('an invoice is charged', () => {
  it('at once when it is collected automatically, and otherwise never', () => {
    expect(firstAttemptAt(open, NOW)).toEqual(NOW);
    expect(firstAttemptAt({ collection: 'send_invoice' }, NOW)).toBeNull();
  });

  it.each<[string, Partial<Invoice>, boolean, Date | null]>([
    ['after a failed attempt, by the plan', {}, true, LATER],
    [
      'as another payment method has it, which came during the attempt',
      { collectAt: NOW },
      true,
      NOW,
    ],
    ['after the last one, never', { attemptCount: 3 }, true, null],
    ['at once, when another payment held it back', {}, false, NOW],
    ['not before the plan, when another payment did not', { collectAt: LATER }, false, LATER],
    ['not while another payment is pending', { amountPending: 1n }, false, null],
    ['not for another payment once it is given up', { attemptCount: 3 }, false, null],
    ['never when it is sent', { collection: 'send_invoice' }, false, null],
    ['never when it is paid', { status: 'paid' }, false, null],
    ['to close its collection, when it is void', { status: 'void', collectAt: NOW }, true, NOW],
  ])('%s', (_, change, wasAttempt, at) => {
    expect(nextAttemptAt({ ...open, ...change }, wasAttempt, retry, NOW)).toEqual(at);
  });

  it('not when it is void; its collection is closed, if it has a subscription', () => {
    expect(closeCollectionAt(open, NOW)).toEqual(NOW);
    expect(closeCollectionAt({ ...open, subscriptionId: null }, NOW)).toBeNull();
    expect(closeCollectionAt({ ...open, collection: 'send_invoice' }, NOW)).toBeNull();
  });
});
