import type { Rejection } from '../usage-store';

const MESSAGES = {
  customer_not_found: 'There is no such customer.',
  usage_in_future: 'The timestamp lies more than 24 hours ahead of the time of the customer.',
  usage_late: 'The period of the event is billed, and a meter that counts it takes no late events.',
  usage_archived:
    'The timestamp lies in a month that is closed for the archive, or in a billed period with such a month.',
  idempotency_key_reused: 'The idempotency key was used before, for another event.',
} as const;

/** Reason why a well-formed event is not stored. The other events of its request are stored. */
export type Refusal = keyof typeof MESSAGES;

export function rejectionOf(index: number, refusal: Refusal): Rejection {
  return { index, code: refusal, message: MESSAGES[refusal] };
}
