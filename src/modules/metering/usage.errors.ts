import { defineProblem } from '../../platform/errors';
import type { Rejection } from './store/usage-store';

/** The field of an event that a rejection is about. */
const FIELD_OF_REJECTION: Readonly<Record<string, string>> = {
  customer_not_found: '/customer_id',
  idempotency_key_reused: '/idempotency_key',
  usage_late: '/timestamp',
  usage_in_future: '/timestamp',
};

export const usageEventNotFound = defineProblem(
  {
    code: 'usage_event_not_found',
    kind: 'not_found',
    title: 'No event was stored under this key',
    meaning: 'No usage event with this idempotency key was accepted.',
  },
  (key: string) => ({ detail: `There is no usage event with the key ${JSON.stringify(key)}.` }),
);

export const usageEventRejected = defineProblem(
  {
    code: 'usage_event_rejected',
    kind: 'rule_broken',
    title: 'The event cannot be taken',
    meaning:
      'A single usage event was rejected and nothing was stored. `errors` holds the code that a list would have in `rejected`: `customer_not_found`, `idempotency_key_reused`, `usage_late` or `usage_in_future`.',
  },
  ({ code, message }: Rejection) => ({
    detail: message,
    errors: [{ pointer: FIELD_OF_REJECTION[code] ?? '', code, message }],
  }),
);

export const usageLateRefused = defineProblem(
  {
    code: 'usage_late',
    kind: 'conflict',
    title: 'The period of the event is billed',
    meaning:
      'A meter that counts the event takes no late usage (`late_events: reject`), and the period of the event is billed.',
  },
  (key: string, meterId: string) => ({
    detail: `The event ${JSON.stringify(key)} lies in a period that is billed, and ${meterId} takes no late usage.`,
  }),
);

export const usagePeriodEmpty = defineProblem(
  {
    code: 'usage_period_empty',
    kind: 'rule_broken',
    title: 'The period has no length',
    meaning: '`to` is the first instant that no longer counts: it must lie after `from`.',
  },
  () => ({
    detail: '`to` must lie after `from`.',
    errors: [{ pointer: '?to', code: 'usage_period_empty', message: 'must lie after from' }],
  }),
);

export const tooManyWindows = defineProblem(
  {
    code: 'too_many_windows',
    kind: 'rule_broken',
    title: 'The period has too many windows',
    meaning: 'An answer holds 2,000 windows. Ask for a shorter period, or longer windows.',
  },
  (most: number) => ({ detail: `The period has more than ${most} windows of this length.` }),
);

export const unknownGroup = defineProblem(
  {
    code: 'unknown_group',
    kind: 'rule_broken',
    title: 'The meter does not group by this property',
    meaning: 'Usage can be told apart by the properties in `group_by` of the meter, and no others.',
  },
  (property: string) => ({
    detail: `The meter does not group by ${JSON.stringify(property)}.`,
    errors: [{ pointer: '?group_by', code: 'unknown_group', message: 'is not one of the meter' }],
  }),
);

export const tooManyEventsToProve = defineProblem(
  {
    code: 'too_many_events_to_prove',
    kind: 'rule_broken',
    title: 'The period has too many events to prove at once',
    meaning: 'A proof reads every event, 2,000,000 at most. Ask for shorter periods.',
  },
  () => ({ detail: 'The period has more than 2,000,000 events.' }),
);
