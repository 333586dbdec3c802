import { faultsOfPlanEntitlements } from './plan-entitlement';

const types = new Map<string, 'boolean' | 'static' | 'metered'>([
  ['sso', 'boolean'],
  ['seats', 'static'],
  ['calls', 'metered'],
]);

describe('the entitlements of a plan', () => {
  it.each([
    [[], []],
    [[['sso', null]], []],
    [[['sso', '1']], ['/e/0/value']],
    [[['seats', '5']], []],
    [[['seats', null]], ['/e/0/value']],
    [[['calls', '5']], []],
    [[['calls', null]], []],
    [
      [
        ['calls', '5'],
        ['sso', null],
        ['calls', null],
      ],
      ['/e/2/entitlement_id'],
    ],
    [
      [
        ['sso', '1'],
        ['sso', '1'],
      ],
      ['/e/0/value', '/e/1/entitlement_id', '/e/1/value'],
    ],
  ] as const)('%j has faults at %j', (listed, pointers) => {
    const entitlements = listed.map(([entitlementId, value]) => ({ entitlementId, value }));
    expect(
      faultsOfPlanEntitlements(entitlements, types, '/e').map(({ pointer }) => pointer),
    ).toEqual(pointers);
  });
});
