import { auditedFields } from './audited-fields';

const coupon = { id: 'coup_1', code: 'A', is_active: false, note: null, updated_at: 'now' };

describe('audited fields', () => {
  it('of a changed object are the changed ones, before and after', () => {
    const change = { object: coupon, previous: { is_active: true, note: 'x' }, isNew: false };
    expect(auditedFields(change)).toEqual({
      is_active: { before: true, after: false },
      note: { before: 'x', after: null },
    });
  });

  it('of a new object are all that have a value', () => {
    expect(auditedFields({ object: coupon, previous: {}, isNew: true })).toEqual({
      code: { after: 'A' },
      is_active: { after: false },
    });
  });

  it('hide secrets by their name, at any depth', () => {
    const object = {
      id: 'x',
      signing_secret: 'canary',
      password_hash: 'canary',
      details: { list: [{ access_token: 'canary', brand: 'visa', cookie: null }] },
    };
    expect(JSON.stringify(auditedFields({ object, previous: {}, isNew: true }))).toBe(
      '{"signing_secret":{"after":"(redacted)"},"password_hash":{"after":"(redacted)"},' +
        '"details":{"after":{"list":[{"access_token":"(redacted)","brand":"visa","cookie":null}]}}}',
    );
  });

  it('show the scheme and the last change of a password', () => {
    const fields = { password_scheme: 'bcrypt', password_changed_at: 'now', password_schemes: 'x' };
    const object = { id: 'x', ...fields, details: fields };
    const shown = { ...fields, password_schemes: '(redacted)' };
    expect(auditedFields({ object, previous: {}, isNew: true })).toEqual({
      password_scheme: { after: 'bcrypt' },
      password_changed_at: { after: 'now' },
      password_schemes: { after: '(redacted)' },
      details: { after: shown },
    });
  });

  it('keep the length only of a long value', () => {
    const object = { id: 'x', lines: ['y'.repeat(2_000)], name: 'z'.repeat(1_000) };
    expect(auditedFields({ object, previous: {}, isNew: true })).toEqual({
      lines: { after: '(2004 characters, not stored)' },
      name: { after: object.name },
    });
  });
});
