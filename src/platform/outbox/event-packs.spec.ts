import { packPlaces } from './event-packs';

describe('packs of events', () => {
  it('hold consecutive events, up to 16,000 characters', () => {
    expect(packPlaces([6_000, 6_000, 4_000, 1_000, 2_000])).toEqual([
      { pack: 0, place: 1 },
      { pack: 0, place: 2 },
      { pack: 0, place: 3 },
      { pack: 1, place: 1 },
      { pack: 1, place: 2 },
    ]);
  });

  it('are not made of one event, or of little text', () => {
    expect(packPlaces([])).toEqual([]);
    expect(packPlaces([5_000])).toEqual([null]);
    expect(packPlaces([1_000, 1_000])).toEqual([null, null]);
    expect(packPlaces([20_000, 20_000, 1_000, 1_500])).toEqual([
      null,
      null,
      { pack: 2, place: 1 },
      { pack: 2, place: 2 },
    ]);
  });
});
