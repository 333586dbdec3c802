import { defineNotFound, defineProblem } from '../../platform/errors';

export const studioAdminNotFound = defineNotFound('studio_admin_not_found', 'a studio admin');

export const studioAdminEmailTaken = defineProblem({
  code: 'studio_admin_email_taken',
  kind: 'conflict',
  title: 'The email belongs to another studio admin',
  meaning: 'Emails are unique regardless of case, inactive admins included. Use another email.',
  detail: (email: string) =>
    `A studio admin with the email ${JSON.stringify(email)} already exists. Use another email.`,
});

export const lastOwner = defineProblem({
  code: 'last_owner',
  kind: 'conflict',
  title: 'The last active owner cannot be deactivated',
  meaning: 'At least one active owner must remain. Create another owner first.',
  detail: (id: string) =>
    `The studio admin ${id} is the last active owner. Create another owner first.`,
});

export const tooManySignIns = defineProblem({
  code: 'too_many_sign_ins',
  kind: 'too_many_requests',
  title: 'Too many attempts to sign in',
  meaning:
    'The account or the address used up its five attempts in 15 minutes, or too many passwords are being checked at once. `Retry-After` gives the seconds to wait. The attempt was not made.',
  occurrence: (retryAfterSeconds: number) => ({
    detail: `Too many attempts to sign in. Try again in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  }),
});
