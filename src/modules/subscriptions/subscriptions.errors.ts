import { defineNotFound, defineProblem } from '../../platform/errors';

export const subscriptionNotFound = defineNotFound('subscription_not_found', 'a subscription');

export const scheduledChangeNotFound = defineProblem({
  code: 'scheduled_change_not_found',
  kind: 'not_found',
  title: 'There is no such scheduled change',
  meaning: 'The id in the path is not the id of a scheduled change of this subscription.',
  detail: (id: string) => `There is no scheduled change ${JSON.stringify(id)}.`,
});

export const subscriptionNotRunning = defineProblem({
  code: 'subscription_not_running',
  kind: 'conflict',
  title: 'The status of the subscription does not allow this',
  meaning:
    'Only a subscription that is trialing, active or past due can be changed. A subscription without a running period can be canceled only with `when: now`. An ended subscription cannot redeem a coupon.',
  occurrence: (id: string, status: string) => ({
    detail: `The subscription ${id} is ${status}, which does not allow this.`,
    extensions: { subscription_status: status },
  }),
});

export const subscriptionChangePending = defineProblem({
  code: 'subscription_change_pending',
  kind: 'conflict',
  title: 'The subscription has a scheduled change',
  meaning:
    'A subscription has at most one scheduled change or cancellation. Undo it first with `DELETE /v1/subscriptions/{id}/scheduled-changes/{change_id}`; `GET /v1/subscriptions/{id}/scheduled-changes` lists it.',
  detail: (id: string) =>
    `The subscription ${id} has a scheduled change or cancellation. Undo that first.`,
});

export const subscriptionCustomerDeleted = defineProblem({
  code: 'subscription_customer_deleted',
  kind: 'conflict',
  title: 'The customer of the subscription was deleted',
  meaning:
    'A subscription whose customer was deleted cannot be changed. It ends at its next due work and bills nothing.',
  detail: (id: string) => `The customer of the subscription ${id} was deleted.`,
});

export const subscriptionBehind = defineProblem({
  code: 'subscription_behind',
  kind: 'conflict',
  isTemporary: true,
  title: 'The subscription is being billed for earlier periods',
  meaning:
    'More than 12 periods of the subscription are due and not billed yet, as after a back-dated start. They are billed in ' +
    'the background, one after the other; on a test clock, advance the clock first. Try again after `Retry-After`.',
  occurrence: ({
    id,
    nextBillingAt,
  }: {
    readonly id: string;
    readonly nextBillingAt: Date | null;
  }) => ({
    detail: `The subscription ${id} is billed only up to ${nextBillingAt?.toISOString() ?? 'its start'}, so it cannot be changed yet. Try again later; on a test clock, advance the clock.`,
    retryAfterSeconds: 5,
  }),
});

export const subscriptionNotCanceling = defineProblem({
  code: 'subscription_not_canceling',
  kind: 'conflict',
  title: 'The subscription has no scheduled cancellation',
  meaning: 'There is no scheduled cancellation to undo.',
  detail: (id: string) => `The subscription ${id} has no scheduled cancellation.`,
});

export const planVersionChanged = defineProblem({
  code: 'plan_version_changed',
  kind: 'conflict',
  title: 'Another plan version would be sold',
  meaning: '`plan_version_id` is not the version that would be sold. Read the preview again.',
  detail: (expected: string, actual: string) =>
    `The plan version would be ${actual}, not ${expected}. Read the preview again.`,
});

export const subscriptionTooLarge = defineProblem({
  code: 'subscription_too_large',
  kind: 'rule_broken',
  title: 'The prices of the subscription are too large',
  meaning:
    'The prices without usage, with their quantities, cost more than 9007199254740991 minor units in a billing period or in a month, or one price does before its maximum lowers it. No invoice or report could carry that amount. Lower a quantity, or divide it among subscriptions.',
  detail: () =>
    'A billing period or a month would cost more than 9007199254740991 minor units, or one price would before its maximum. Lower a quantity.',
});

export const subscriptionTermsContradict = defineProblem({
  code: 'subscription_terms_contradict',
  kind: 'rule_broken',
  title: 'The terms of the subscription contradict each other',
  meaning:
    'An add-on may be named once, in the currency of the plan; `plan_version: current` is only for the present plan of the subscription; `at` is only for `when: at`, and must be in the future; a start may be at most two years and at most 366 periods ago, and not after the year 9000; `payment_behavior: default_incomplete` needs `collection: automatic`.',
  occurrence: (pointer: string, message: string) => ({
    detail: `${pointer} ${message}.`,
    errors: [{ pointer, code: 'contradiction', message }],
  }),
});
