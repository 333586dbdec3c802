import { CHAIN_START, type SealedChanges, faultOf, sealAfter, UNREADABLE } from './seal';

const createdAt = new Date('2026-03-01T00:00:00.000Z');
const content: SealedChanges = { changeCount: 3, hash: 'a'.repeat(64) };
const first = sealAfter(CHAIN_START, content, { to: 5n, createdAt });
const second = sealAfter(first, content, { to: 9n, createdAt });
const damaged = sealAfter(CHAIN_START, UNREADABLE, { to: 5n, createdAt });

describe('a seal', () => {
  it('continues the chain', () => {
    expect([first.number, first.from, first.to]).toEqual([1n, 0n, 5n]);
    expect([second.number, second.from, second.to]).toEqual([2n, 5n, 9n]);
    expect(second.hash).not.toBe(first.hash);
    expect(faultOf(first, CHAIN_START, content)).toBeNull();
    expect(faultOf(second, first, content)).toBeNull();
  });

  it.each([
    ['a removed change', first, CHAIN_START, { ...content, changeCount: 2 }, 'changes_missing'],
    ['an added change', first, CHAIN_START, { ...content, changeCount: 4 }, 'changes_added'],
    ['a changed change', first, CHAIN_START, { ...content, hash: 'b' }, 'content_changed'],
    ['another time', { ...first, createdAt: new Date(0) }, CHAIN_START, content, 'content_changed'],
    ['a rewritten seal before it', second, { ...first, hash: 'b' }, content, 'content_changed'],
    ['a removed seal before it', second, CHAIN_START, content, 'chain_broken'],
    ['unreadable changes', first, CHAIN_START, null, 'unreadable'],
    ['a removed seal before unreadable changes', second, CHAIN_START, null, 'chain_broken'],
    ['changes that were unreadable', damaged, CHAIN_START, content, 'unreadable_when_sealed'],
    ['changes that still are', damaged, CHAIN_START, null, 'unreadable_when_sealed'],
    ['a gap before it', { ...second, from: 6n }, first, content, 'chain_broken'],
  ] as const)('reveals %s', (_, seal, previous, found, fault) => {
    expect(faultOf(seal, previous, found)).toBe(fault);
  });
});
