import { revise } from '../../../platform/database';
import { SETTINGS_ID, type StudioSettings } from './studio-settings';

const NOW = new Date('2026-03-02T00:00:00.000Z');

const settings: StudioSettings = {
  id: SETTINGS_ID,
  version: 1,
  supportRefundLimits: new Map([
    ['EUR', 5_000n],
    ['USD', 6_000n],
  ]),
  secondFactorRequired: false,
  updatedAt: new Date('2026-03-01T00:00:00.000Z'),
};

describe('a change of the studio settings', () => {
  it.each([
    [
      new Map([
        ['USD', 6_000n],
        ['EUR', 5_000n],
      ]),
    ],
  ])('to the same limits is a no-op: %s', (supportRefundLimits) => {
    expect(revise(settings, { supportRefundLimits }, NOW)).toBe(settings);
  });

  it.each([
    [new Map()],
    [new Map([['EUR', 5_000n]])],
    [
      new Map([
        ['EUR', 5_001n],
        ['USD', 6_000n],
      ]),
    ],
    [
      new Map([
        ['EUR', 5_000n],
        ['GBP', 6_000n],
      ]),
    ],
  ])('replaces all limits: %s', (supportRefundLimits) => {
    expect(revise(settings, { supportRefundLimits }, NOW)).toEqual({
      ...settings,
      supportRefundLimits,
      version: 2,
      updatedAt: NOW,
    });
  });
});
