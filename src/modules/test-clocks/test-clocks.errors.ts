import { defineNotFound, defineProblem } from '../../platform/errors';

export const testClockNotFound = defineNotFound('test_clock_not_found', 'a test clock');

export const testClockAdvancing = defineProblem({
  code: 'test_clock_advancing',
  kind: 'conflict',
  isTemporary: true,
  title: 'The test clock is advancing',
  meaning:
    'Another call is advancing the test clock of the request. Read the clock until it is `ready`, then try again. After a crash, advance it to the same instant again.',
  detail: (id: string) => `The test clock ${id} is advancing. Try again when it is ready.`,
});

export const testClockFailed = defineProblem({
  code: 'test_clock_failed',
  kind: 'conflict',
  title: 'The test clock failed',
  meaning:
    'Due work failed while the clock was advancing. The reason is in the log. A failed clock can only be deleted.',
  detail: (id: string) =>
    `The test clock ${id} failed while it was advancing. The reason is in the log.`,
});

/**
 * Errors of requests about customers on a test clock. Includes `test_clock_not_found`, because requests can still find
 * the customers while their clock is being deleted.
 */
export const TEST_CLOCK_PROBLEMS = [testClockAdvancing, testClockFailed, testClockNotFound];

export const testClockCannotReach = defineProblem({
  code: 'test_clock_cannot_reach',
  kind: 'rule_broken',
  title: 'The test clock cannot be advanced to this instant',
  meaning: 'A test clock moves forward only, by at most ten years in one call.',
  occurrence: (id: string, instant: string) => ({
    detail: `The test clock ${id} is at ${instant}. Choose a time not before it and at most ten years after it.`,
    errors: [{ pointer: '/to', code: 'out_of_reach', message: 'cannot be reached in one call' }],
    extensions: { now: instant },
  }),
});
