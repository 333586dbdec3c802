import { defineProblem } from '../../platform/errors';

export const sessionNotFound = defineProblem(
  {
    code: 'session_not_found',
    kind: 'not_found',
    title: 'There is no such session',
    meaning: 'The id in the path is not the id of a session that the caller may see.',
  },
  (id: string) => ({ detail: `There is no session ${JSON.stringify(id)}.` }),
);

export const signInFailed = defineProblem(
  {
    code: 'sign_in_failed',
    kind: 'unauthenticated',
    title: 'The email or the password is wrong',
    meaning:
      'No active admin has this email and password. The answer is the same for an unknown email, a wrong password, an inactive admin, and a password hash of an unknown form or too high a cost.',
  },
  () => ({ detail: 'The email or the password is wrong.' }),
);
