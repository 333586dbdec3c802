import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import type { EncryptionKey } from '../config';
import { SealedTextError, SecretBox } from './secret-box';

function key(id: string, byte: number): EncryptionKey {
  return { id, secret: createSecretKey(Buffer.alloc(32, byte)) };
}

const box = new SecretBox([key('k1', 1)]);

describe('a sealed secret', () => {
  it('opens for its owner, whatever text it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, owner) => {
        expect(box.open(box.seal(text, owner), owner)).toBe(text);
      }),
    );
  });

  it('names its key, hides the text, and is another one each time', () => {
    const sealed = [box.seal('whsec_x', 'whs_1'), box.seal('whsec_x', 'whs_1')];
    for (const text of sealed) {
      expect(text).toMatch(/^v1:k1:[A-Za-z0-9_-]+$/);
      expect(Buffer.from(text.slice(6), 'base64url').toString('latin1')).not.toContain('whsec');
    }
    expect(sealed[0]).not.toBe(sealed[1]);
  });

  it('is opened by every key, and sealed by the first', () => {
    const sealed = box.seal('secret', 'whs_1');
    const rotated = new SecretBox([key('k2', 2), key('k1', 1)]);
    expect(rotated.open(sealed, 'whs_1')).toBe('secret');
    expect(rotated.seal('secret', 'whs_1')).toMatch(/^v1:k2:/);
  });

  it('does not open when any of its characters was changed', () => {
    const sealed = box.seal('secret', 'whs_1');
    for (let index = 0; index < sealed.length; index += 1) {
      const other = sealed[index] === 'A' ? 'B' : 'A';
      const changed = `${sealed.slice(0, index)}${other}${sealed.slice(index + 1)}`;
      expect(() => box.open(changed, 'whs_1')).toThrow(SealedTextError);
    }
  });

  const sealed = box.seal('secret', 'whs_1');
  it.each([
    ['for another owner', sealed, 'whs_2', /was changed, or belongs to another owner/],
    ['cut short', sealed.slice(0, -1), 'whs_1', /was changed/],
    ['with nothing in it', 'v1:k1:AAAA', 'whs_1', /was changed/],
    ['of a key that is gone', sealed.replace('k1', 'k9'), 'whs_1', /key k9, which is not among/],
    ['of a later form', sealed.replace('v1', 'v2'), 'whs_1', /not one that was sealed/],
    ['never sealed', 'secret', 'whs_1', /not one that was sealed/],
    ['empty', '', 'whs_1', /not one that was sealed/],
  ])('does not open: %s', (_, text, owner, message) => {
    expect(() => box.open(text, owner)).toThrow(message);
  });

  it('does not open with another key of the same id', () => {
    expect(() => new SecretBox([key('k1', 3)]).open(sealed, 'whs_1')).toThrow(SealedTextError);
  });

  it('needs a key', () => {
    expect(() => new SecretBox([])).toThrow('There is no encryption key.');
  });
});
