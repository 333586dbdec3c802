import { inspect } from 'node:util';
import { Configuration } from './configuration';
import { parseEncryptionKeys } from './encryption-keys';

const BASE64 = Buffer.alloc(32, 7).toString('base64');
const OTHER = Buffer.alloc(32, 8).toString('base64');

describe('encryption keys', () => {
  it('are read in their order', () => {
    const keys = parseEncryptionKeys(`new:${BASE64}, old_1-a:${OTHER}`);
    expect(keys?.map(({ id, secret }) => [id, secret.export().toString('base64')])).toEqual([
      ['new', BASE64],
      ['old_1-a', OTHER],
    ]);
  });

  it.each([
    ['nothing', ''],
    ['no id', BASE64],
    ['an empty id', `:${BASE64}`],
    ['an id with other characters', `a.b:${BASE64}`],
    ['an id that is too long', `${'a'.repeat(33)}:${BASE64}`],
    ['31 bytes', `a:${Buffer.alloc(31).toString('base64')}`],
    ['33 bytes', `a:${Buffer.alloc(33).toString('base64')}`],
    ['base64url', `a:${Buffer.alloc(32, 0xff).toString('base64url')}`],
    ['the same id twice', `a:${BASE64},a:${OTHER}`],
    ['the same key twice', `a:${BASE64},a:${BASE64}`],
    ['the same key under two ids', `a:${BASE64},b:${OTHER},c:${BASE64}`],
    ['a comma at the end', `a:${BASE64},`],
  ])('are refused: %s', (_, text) => {
    expect(parseEncryptionKeys(text)).toBeUndefined();
  });

  it('are not shown by the configuration that holds them, nor by the message that refuses them', () => {
    const configuration = new Configuration({ ENCRYPTION_KEYS: `a:${BASE64}` });
    const shown = inspect(configuration, { depth: 9, showHidden: true });
    expect(`${shown}${JSON.stringify(configuration)}`).not.toContain(BASE64.slice(0, 8));
    expect(() => new Configuration({ ENCRYPTION_KEYS: `a.b:${BASE64}` })).toThrow(
      'ENCRYPTION_KEYS is something else (not shown), but must be id:base64 of 32 bytes, comma separated, each id and each key once.',
    );
  });
});
