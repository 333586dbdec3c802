import { afterFailure, nextPortion } from './purge-portion';

describe('the next portion of a purge', () => {
  it.each([
    ['doubles at most', 20, 1, 40],
    ['stays where it took as long as it should', 50, 300, 50],
    ['shrinks after a slow one', 50, 3_000, 5],
    ['is never empty', 1, 60_000, 1],
    ['is never larger than 500', 400, 10, 500],
  ])('%s', (_, size, tookMs, next) => {
    expect(nextPortion(size, tookMs)).toBe(next);
  });

  it.each([
    [500, 250],
    [3, 1],
    [1, 1],
  ])('has half as many customers after one of %d failed, but at least one', (failed, next) => {
    expect(afterFailure(failed)).toBe(next);
  });
});
