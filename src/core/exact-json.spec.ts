import { fromJson, toJson } from './exact-json';

describe('values as JSON', () => {
  it.each([
    [null],
    [{ amountMinor: 9007199254740993n, at: new Date('2026-01-01T00:00:00Z') }],
    [[{ tiers: [{ upTo: null, flatAmountMinor: -1n }] }, 'text', 1, true]],
    [{}],
  ])('come back as they were: %#', (value) => {
    expect(fromJson(JSON.parse(JSON.stringify(toJson(value))))).toEqual(value);
  });

  it('leave out what is undefined', () => {
    expect(toJson({ a: undefined, b: 1 })).toEqual({ b: 1 });
  });
});
