import { defineProblem } from '../../platform/errors';
import type { Rejection } from './usage-store';

/** JSON pointer to the field that caused the rejection of an event, by rejection code. */
const FIELD_OF_REJECTION: Readonly<Record<string, string>> = {
  customer_not_found: '/customer_id',
  idempotency_key_reused: '/idempotency_key',
  usage_late: '/timestamp',
  usage_archived: '/timestamp',
  usage_in_future: '/timestamp',
};

export const usageEventNotFound = defineProblem({
  code: 'usage_event_not_found',
  kind: 'not_found',
  title: 'No event is stored under this key',
  meaning: 'No usage event with this idempotency key was accepted.',
  detail: (key: string) => `There is no usage event with the key ${JSON.stringify(key)}.`,
});

export const usageEventRejected = defineProblem({
  code: 'usage_event_rejected',
  kind: 'rule_broken',
  title: 'The event was rejected',
  meaning:
    'A single usage event was rejected and nothing was stored. `errors` holds the code that a list would have in `rejected`: `customer_not_found`, `idempotency_key_reused`, `usage_late`, `usage_in_future` or `usage_archived`.',
  occurrence: ({ code, message }: Rejection) => ({
    detail: message,
    errors: [{ pointer: FIELD_OF_REJECTION[code] ?? '', code, message }],
  }),
});

export const usageLateRefused = defineProblem({
  code: 'usage_late',
  kind: 'conflict',
  title: 'The period of the event is billed',
  meaning:
    'A meter that counts the event rejects late usage (`late_events: reject`), and the period of the event is billed.',
  detail: (key: string, meterId: string) =>
    `The event ${JSON.stringify(key)} is in a billed period, and the meter ${meterId} rejects late usage.`,
});

export const usageEventArchived = defineProblem({
  code: 'usage_event_archived',
  kind: 'conflict',
  title: 'The event is archived',
  meaning:
    'The event lies in a month that is closed for the archive, or in a billed period with such a month. It stays counted and cannot be voided. `GET /v1/usage-archive/months` lists the files of a customer.',
  detail: (key: string) =>
    `The event ${JSON.stringify(key)} is in a month that is closed for the archive, or in a billed period that begins in one. Such an event cannot be voided, and once it is removed from the database it cannot be read either.`,
});

export const usageArchived = defineProblem({
  code: 'usage_archived',
  kind: 'conflict',
  title: 'The events of the period are archived',
  meaning:
    'The request needs single events of an archived month, but only totals of whole UTC hours are stored. The answer says what to do instead. To read usage, request a period that begins and ends at whole UTC hours, or is after the archived months. An invoice that billed usage of such a month cannot be voided, nor regenerated unless a later invoice billed that usage. A new recurring meter would lack the values that archived events set. A subscription with metered prices cannot start before the end of the archived months of its customer. A start or change is also refused if an entitlement would count usage from the middle of an hour whose events were removed, or usage that was archived before its meter was created.',
  detail: (before: Date, instead?: string) =>
    `Events before ${before.toISOString()} are closed for the archive, which leaves only totals of whole UTC hours. ${instead ?? 'Request whole UTC hours, with `time_zone=UTC` if there are windows, or a period after that instant.'}`,
});

export const usagePeriodEmpty = defineProblem({
  code: 'usage_period_empty',
  kind: 'rule_broken',
  title: 'The period is empty',
  meaning: '`to` is exclusive and must be after `from`.',
  occurrence: () => ({
    detail: '`to` must be after `from`.',
    errors: [{ pointer: '/to', code: 'usage_period_empty', message: 'must be after from' }],
  }),
});

export const tooManyWindows = defineProblem({
  code: 'too_many_windows',
  kind: 'rule_broken',
  title: 'The period has too many windows',
  meaning:
    'An answer has at most 2,000 windows and 100,000 values, and grouped revenue at most 10,000 windows times `limit`. Request a shorter period, longer windows or fewer groups.',
  detail: (max: number, counted: 'windows' | 'values' = 'windows') =>
    counted === 'windows'
      ? `The period has more than ${max} windows of this length. Request a shorter period or longer windows.`
      : `The answer has more than ${max} values, one per window and group. Request a shorter period, longer windows or fewer groups.`,
});

export const unknownGroup = defineProblem({
  code: 'unknown_group',
  kind: 'rule_broken',
  title: 'The meter does not group by this property',
  meaning: 'Usage can be grouped only by the properties in `group_by` of the meter.',
  occurrence: (property: string) => ({
    detail: `The meter does not group by ${JSON.stringify(property)}.`,
    errors: [
      { pointer: '/group_by', code: 'unknown_group', message: 'is not in group_by of the meter' },
    ],
  }),
});

export const tooManyEventsToProve = defineProblem({
  code: 'too_many_events_to_prove',
  kind: 'rule_broken',
  title: 'The period has too many events to prove at once',
  meaning: 'A proof reads every event of the period, at most 2,000,000. Request shorter periods.',
  detail: () => 'The period has more than 2,000,000 events. Request shorter periods.',
});

export const meterNotTotalled = defineProblem({
  code: 'meter_not_totalled',
  kind: 'rule_broken',
  title: 'The meter has no totals over all customers',
  meaning:
    'Totals over all customers exist for meters that aggregate by `count`, `sum` or `max`. Read the usage of each customer instead.',
  detail: (aggregation: string) =>
    `Totals over all customers exist for count, sum and max, not for ${aggregation}. Read the usage of each customer instead.`,
});

export const tooMuchUsageToTotal = defineProblem({
  code: 'too_much_usage_to_total',
  kind: 'rule_broken',
  title: 'The period has too much usage to add up at once',
  meaning:
    'The answer is the sum of at most 2,000,000 totals, one per customer, hour and group. Request shorter periods.',
  detail: (max: number) =>
    `The usage of the period consists of more than ${max} totals (one per customer, hour and group). Request a shorter period.`,
});
