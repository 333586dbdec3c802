import { defineProblem } from '../../platform/errors';

export const testClockNotFound = defineProblem(
  {
    code: 'test_clock_not_found',
    kind: 'not_found',
    title: 'There is no such test clock',
    meaning: 'The id in the path is not the id of a test clock.',
  },
  (id: string) => ({ detail: `There is no test clock ${JSON.stringify(id)}.` }),
);

export const testClockAdvancing = defineProblem(
  {
    code: 'test_clock_advancing',
    kind: 'conflict',
    title: 'The test clock is being moved',
    meaning:
      'Something lives on a test clock that another call is moving. Read the clock until it is `ready`, then try again. A clock that a crash left half way goes on when it is advanced to the same instant again.',
  },
  (id: string) => ({ detail: `The test clock ${id} is being moved.` }),
);

export const testClockFailed = defineProblem(
  {
    code: 'test_clock_failed',
    kind: 'conflict',
    title: 'The test clock came to a halt',
    meaning: 'Due work failed while the clock was moved. The service has logged why.',
  },
  (id: string) => ({ detail: `The test clock ${id} failed while it was moved.` }),
);

export const testClockCannotReach = defineProblem(
  {
    code: 'test_clock_cannot_reach',
    kind: 'rule_broken',
    title: 'The test clock cannot be moved there',
    meaning: 'A test clock moves forwards, by at most ten years in one call.',
  },
  (id: string, instant: string) => ({
    detail: `The test clock ${id} stands at ${instant} and moves forwards, by at most ten years.`,
    errors: [{ pointer: '/to', code: 'out_of_reach', message: 'cannot be reached in one call' }],
    extensions: { now: instant },
  }),
);
