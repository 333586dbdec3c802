import { readQuery, searchedTypes } from './search-type';

describe('a search query', () => {
  it.each(['', ' ', 'a', ' é '])('of fewer than two characters finds nothing: "%s"', (text) => {
    expect(readQuery(text)).toEqual({ kind: 'nothing' });
  });

  it.each([
    ['cus_', 'customer'],
    ['cus_01h4', 'customer'],
    ['inv_01h455vb4pex5vsknk084sn02q', 'invoice'],
    ['plan_7', 'plan'],
  ])('that begins as an id does finds ids of its type: %s', (start, type) => {
    const words = { text: start, typed: ` ${start} `, parts: [start] };
    expect(readQuery(` ${start} `)).toEqual({ kind: 'id', type, ...words });
  });

  it.each([
    'none_01',
    'cus_01 ada',
    'CUS_01',
    'cus_01u',
    'plan_team',
    'addon_ssd',
    'cus_8',
    'inv_01h455vb4pex5vsknk084sn02qa',
  ])('may look like an id: %s', (text) => {
    expect(readQuery(text).kind).toBe('words');
  });

  it('is split into words, of which short ones are at the beginning of a word', () => {
    const typed = String.raw`  50%  off_ \x ab `;
    expect(readQuery(typed)).toEqual({
      kind: 'words',
      typed,
      text: String.raw`50% off_ \x ab`,
      parts: ['50%', 'off_', String.raw` \x`, ' ab'],
    });
  });

  it('uses its first eight words', () => {
    expect(readQuery('a b c d e f g h i j')).toMatchObject({ parts: { length: 8 } });
  });

  it('is for the types that the caller may read', () => {
    const scopes = new Set(['customers:read', 'catalog:read']);
    expect(searchedTypes(['customer', 'invoice', 'plan'], scopes)).toEqual(['customer', 'plan']);
    expect(searchedTypes(null, new Set())).toEqual([]);
  });
});
