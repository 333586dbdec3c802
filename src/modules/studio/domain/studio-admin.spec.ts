import {
  deactivated,
  emailKeyOf,
  isLastOwner,
  schemeOf,
  type StudioAdmin,
  withChange,
} from './studio-admin';

const CREATED = new Date('2026-03-01T00:00:00.000Z');
const NOW = new Date('2026-03-02T00:00:00.000Z');

const admin: StudioAdmin = {
  id: 'admin_1',
  version: 3,
  email: 'Ada@example.com',
  name: 'Ada',
  role: 'owner',
  isActive: true,
  passwordHash: 'old',
  passwordChangedAt: CREATED,
  sessionsValidFrom: CREATED,
  createdAt: CREATED,
  updatedAt: CREATED,
};

describe('a change of a studio admin', () => {
  it.each([{}, { name: 'Ada' }, { passwordHash: 'old' }, { name: 'Ada', passwordHash: 'old' }])(
    'to the same values is a no-op: %j',
    (change) => {
      expect(withChange(admin, change, NOW)).toBe(admin);
    },
  );

  it('of the name keeps the sessions valid', () => {
    expect(withChange(admin, { name: 'Lovelace' }, NOW)).toEqual({
      ...admin,
      name: 'Lovelace',
      version: 4,
      updatedAt: NOW,
    });
  });

  it('of the password invalidates the sessions', () => {
    expect(withChange(admin, { passwordHash: 'new' }, NOW)).toEqual({
      ...admin,
      passwordHash: 'new',
      passwordChangedAt: NOW,
      sessionsValidFrom: NOW,
      version: 4,
      updatedAt: NOW,
    });
  });

  it('of the password shows and invalidates the sessions, also at the instant of the last change', () => {
    const changed = new Date(CREATED.getTime() + 1);
    expect(withChange(admin, { passwordHash: 'new' }, CREATED)).toMatchObject({
      passwordChangedAt: changed,
      sessionsValidFrom: changed,
    });
  });

  it('of the password invalidates the sessions, also at the instant of their last end', () => {
    const ended = { ...admin, sessionsValidFrom: NOW };
    expect(withChange(ended, { passwordHash: 'new' }, NOW)).toMatchObject({
      passwordChangedAt: NOW,
      sessionsValidFrom: new Date(NOW.getTime() + 1),
    });
  });

  it('to inactive invalidates the sessions, once', () => {
    const after = deactivated(admin, NOW);
    expect(after).toMatchObject({ isActive: false, sessionsValidFrom: NOW, version: 4 });
    expect(deactivated(after, NOW)).toBe(after);
  });
});

describe('the last owner', () => {
  const other = { ...admin, id: 'admin_2' };

  it.each([
    ['alone', admin, [admin], true],
    ['beside admins', admin, [admin, { ...other, role: 'admin' }], true],
    ['beside an owner who is not active', admin, [admin, { ...other, isActive: false }], true],
    ['not beside another owner', admin, [admin, other], false],
    ['is not an admin', { ...admin, role: 'admin' }, [], false],
    ['is not one who is not active', { ...admin, isActive: false }, [], false],
  ] as const)('%s', (_, one, all, expected) => {
    expect(isLastOwner(one, all)).toBe(expected);
  });
});

describe('emails', () => {
  it.each([
    ['ada@example.com', 'ADA@Example.com', true],
    ['\u00e9va@example.com', 'E\u0301VA@example.com', true],
    // KELVIN SIGN
    ['kim@example.com', '\u212aim@example.com', true],
    ['ada@example.com', 'ada+1@example.com', false],
  ])('%s and %s are the same: %s', (one, other, same) => {
    expect(emailKeyOf(one) === emailKeyOf(other)).toBe(same);
  });
});

it('a password hash has a scheme', () => {
  expect(schemeOf(admin)).toBe('unrecognised');
});
