import { assertBoundedJson } from './json-bounds';

const events = Array.from({ length: 1_000 }, (_, index) => ({
  name: 'api_call',
  idempotency_key: `key-${index} with [[[ {{{ "quoted\\" text`,
  properties: Object.fromEntries(
    Array.from({ length: 50 }, (_none, key) => [`key_${key}`, [key, { deep: '\\' }]]),
  ),
}));

describe('the bounds of JSON', () => {
  it('admit the largest valid list of usage', () => {
    expect(() => assertBoundedJson(Buffer.from(JSON.stringify({ events })))).not.toThrow();
  });

  it.each([
    ['lists in lists', '['.repeat(70_000)],
    ['objects in objects', '{"a":'.repeat(20_000)],
    ['very many lists', `[${'[],'.repeat(510_000)}[]]`],
    ['very many keys', `{${'"a":1,'.repeat(1_010_000)}"a":1}`],
    ['lists after a text with quotes', `["\\"",${'[],'.repeat(510_000)}[]]`],
  ])('refuse %s', (_, text) => {
    expect(() => assertBoundedJson(Buffer.from(text))).toThrow(
      'nested too deep, or holds too many',
    );
  });

  it('do not count what is in texts', () => {
    const text = JSON.stringify(['[{:'.repeat(200_000)]);
    expect(() => assertBoundedJson(Buffer.from(text))).not.toThrow();
  });

  it('leave small bodies to the parser', () => {
    expect(() => assertBoundedJson(Buffer.from('['.repeat(1_000)))).not.toThrow();
  });
});
