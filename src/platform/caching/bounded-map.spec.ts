import { BoundedMap } from './bounded-map';

describe('a bounded map', () => {
  it('forgets the entry that was added first once it is full', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('c', 3);
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('forgets no entry when it replaces the value of a key', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3);
    expect([...map]).toEqual([
      ['a', 3],
      ['b', 2],
    ]);
  });

  it('forgets as many entries as the weight of a new one needs', () => {
    const map = new BoundedMap<string, number>(10, (value) => value);
    map.set('a', 4).set('b', 3).set('c', 3).set('d', 6);
    expect([...map.keys()]).toEqual(['c', 'd']);
    map.set('c', 1).set('e', 3);
    expect([...map.keys()]).toEqual(['c', 'd', 'e']);
    map.delete('d');
    map.set('f', 6);
    expect([...map.keys()]).toEqual(['c', 'e', 'f']);
    map.clear();
    map.set('g', 10);
    expect([...map.keys()]).toEqual(['g']);
  });

  it('does not keep a value that is heavier than all of it', () => {
    const map = new BoundedMap<string, number>(10, (value) => value);
    map.set('a', 4).set('b', 11);
    expect([...map.keys()]).toEqual([]);
  });
});
