import { explainFailure } from './explain-failure';

/** Returns an error as `pg` throws it for an answer of the server. */
function answer(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR' });
}

it.each([
  ['57014', 'canceling statement due to statement timeout', true],
  ['55P03', 'canceling statement due to lock timeout', false],
])(
  'a statement that the database ended (%s) blames no setting that does not limit it',
  (code, message, isLimited) => {
    const text = explainFailure(answer(code, message));
    expect(text).toContain(`The database ended a statement of the start (${message}).`);
    expect(text).not.toContain('DATABASE_URL');
    expect(text.includes('DATABASE_STATEMENT_TIMEOUT_MS')).toBe(isLimited);
  },
);

it('a database that cannot be used names DATABASE_URL', () => {
  const text = explainFailure(answer('57P03', 'the database system is starting up'));
  expect(text).toContain('Check DATABASE_URL');
});
