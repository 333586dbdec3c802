import { defineProblem } from '../../platform/errors';

export const studioAdminNotFound = defineProblem(
  {
    code: 'studio_admin_not_found',
    kind: 'not_found',
    title: 'There is no such studio admin',
    meaning: 'The id in the path is not the id of a studio admin.',
  },
  (id: string) => ({ detail: `There is no studio admin ${JSON.stringify(id)}.` }),
);

export const studioAdminEmailTaken = defineProblem(
  {
    code: 'studio_admin_email_taken',
    kind: 'conflict',
    title: 'The email belongs to another studio admin',
    meaning: 'Emails are unique whatever their case, also among admins who are not active.',
  },
  (email: string) => ({
    detail: `There already is a studio admin with the email ${JSON.stringify(email)}.`,
  }),
);

export const lastOwner = defineProblem(
  {
    code: 'last_owner',
    kind: 'conflict',
    title: 'The last active owner cannot be removed',
    meaning: 'Somebody must be left who may do everything. Make another owner first.',
  },
  (id: string) => ({ detail: `The studio admin ${id} is the last active owner.` }),
);
