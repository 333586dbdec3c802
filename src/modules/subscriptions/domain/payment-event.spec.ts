import { isTerminal, mayBecome } from '../../../core/states';
import { STATUS_AFTER, statusAfter, type PaymentEvent } from './payment-event';
import {
  SUBSCRIPTION_STATUSES,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionStatus,
} from './subscription';

const EVENTS = Object.keys(STATUS_AFTER) as PaymentEvent[];

describe('what payments make of a subscription', () => {
  it('is allowed by the table of its states', () => {
    for (const event of EVENTS) {
      for (const status of SUBSCRIPTION_STATUSES) {
        const after = statusAfter(status, event);
        expect(after === status || mayBecome(SUBSCRIPTION_TRANSITIONS, status, after)).toBe(true);
      }
    }
  });

  it.each<[PaymentEvent, SubscriptionStatus, SubscriptionStatus]>([
    ['failed', 'active', 'past_due'],
    ['failed', 'past_due', 'past_due'],
    ['failed', 'unpaid', 'unpaid'],
    ['used_up', 'past_due', 'unpaid'],
    ['used_up', 'active', 'unpaid'],
    ['retried', 'unpaid', 'past_due'],
    ['retried', 'active', 'active'],
    ['settled', 'past_due', 'active'],
    ['settled', 'unpaid', 'active'],
    ['settled', 'incomplete', 'active'],
    ['failed', 'incomplete', 'incomplete'],
    ['used_up', 'incomplete', 'incomplete'],
    ['retried', 'incomplete', 'incomplete'],
    ['settled', 'trialing', 'trialing'],
  ])('%s: %s becomes %s', (event, before, after) => {
    expect(statusAfter(before, event)).toBe(after);
  });

  it('changes nothing about one that ended or is paused', () => {
    const left = SUBSCRIPTION_STATUSES.filter(
      (status) => isTerminal(SUBSCRIPTION_TRANSITIONS, status) || status === 'paused',
    );
    for (const event of EVENTS) {
      for (const status of left) expect(statusAfter(status, event)).toBe(status);
    }
  });
});
