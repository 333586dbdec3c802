import { ended, endsAt, isActive, isTouchDue, type Session } from './session';

const at = (text: string) => new Date(`2026-03-${text}Z`);
const CREATED = at('01T00:00:00.000');

const SESSION: Session = {
  id: 'sess_1',
  version: 1,
  adminId: 'admin_1',
  validFrom: CREATED,
  adminValidFrom: CREATED,
  method: 'password',
  address: '127.0.0.1',
  userAgent: '',
  createdAt: CREATED,
  lastUsedAt: CREATED,
  expiresAt: at('08T00:00:00.000'),
  endedAt: null,
};

describe('a session', () => {
  it.each([
    ['01T11:59:59.999', {}, true],
    ['01T12:00:00.000', {}, false],
    ['07T23:59:59.999', { lastUsedAt: at('07T20:00:00.000') }, true],
    ['08T00:00:00.000', { lastUsedAt: at('07T23:59:00.000') }, false],
    ['01T00:00:01.000', { endedAt: at('01T00:00:01.000') }, false],
  ])('lasts at %s with %j: %s', (now, fields, expected) => {
    expect(isActive({ ...SESSION, ...fields }, at(now))).toBe(expected);
  });

  it.each([
    ['an inactive admin', null],
    ['an admin with a later password', at('01T00:00:00.001')],
  ])('does not last for %s', (_, adminValidFrom) => {
    expect(isActive({ ...SESSION, adminValidFrom }, CREATED)).toBe(false);
  });

  it('ends 12 hours after its last use, and 7 days after its start', () => {
    expect(endsAt(SESSION)).toEqual(at('01T12:00:00.000'));
    expect(endsAt({ ...SESSION, lastUsedAt: at('07T20:00:00.000') })).toEqual(SESSION.expiresAt);
  });

  it('records its use once a minute', () => {
    expect(isTouchDue(SESSION, at('01T00:00:59.999'))).toBe(false);
    expect(isTouchDue(SESSION, at('01T00:01:00.000'))).toBe(true);
  });

  it('is ended once, and only while it is active', () => {
    const once = ended(SESSION, at('01T11:59:59.999'));
    expect(once).toEqual({ ...SESSION, endedAt: at('01T11:59:59.999'), version: 2 });
    expect(ended(once, at('01T11:59:59.999'))).toBe(once);
    expect(ended(SESSION, at('01T12:00:00.000'))).toBe(SESSION);
  });
});
