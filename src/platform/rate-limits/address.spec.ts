import { rateLimitAddress, widerNetwork } from './address';

describe('a counted address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['[2001:db8::9]:4711', '2001:db8:0:0::/64'],
    ['[2001:db8::9]', '2001:db8:0:0::/64'],
    ['unknown', 'unknown'],
    ['a'.repeat(200), 'unknown'],
    ['', 'unknown'],
  ])('of %s is %s', (address, counted) => {
    expect(rateLimitAddress(address)).toBe(counted);
  });
});

it.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['::1', '0:0:0::/48'],
  ['192.0.2.7', null],
  ['unknown', null],
])('the network of the site at %s is %s', (address, network) => {
  expect(widerNetwork(rateLimitAddress(address))).toBe(network);
});
