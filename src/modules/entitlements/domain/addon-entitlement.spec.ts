import { faultsOfLink, defaultMode } from './addon-entitlement';

describe('the link of an add-on to an entitlement', () => {
  it.each([
    ['boolean', 'set'],
    ['static', 'increment'],
    ['metered', 'increment'],
  ] as const)('to a %s one has the mode %s unless said otherwise', (type, mode) => {
    expect(defaultMode(type)).toBe(mode);
  });

  it.each([
    ['boolean', 'set', null, []],
    ['boolean', 'increment', null, ['/mode']],
    ['boolean', 'set', '1', ['/value']],
    ['boolean', 'increment', '1', ['/mode', '/value']],
    ['static', 'increment', '5', []],
    ['static', 'set', '0', []],
    ['static', 'increment', null, ['/value']],
    ['metered', 'set', '10.5', []],
    ['metered', 'set', null, ['/value']],
  ] as const)('to a %s one, to %s %s: faults %j', (type, mode, value, pointers) => {
    expect(faultsOfLink(type, { mode, value }).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
