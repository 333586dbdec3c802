import ipaddr from 'ipaddr.js';
import { isAllowedAddress } from './addresses';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
];
const PUBLIC_IPV6 = ['2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '2003::1'];

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.255',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.255.255',
  '::1',
  'fc00::1',
  'fdff:ffff::1',
];

const NEVER: readonly (readonly [kind: string, ...addresses: readonly string[]])[] = [
  ['unspecified', '0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  ['link-local', '169.254.0.1', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1'],
  ['metadata services', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'],
  ['metadata services over IPv6', 'fd00:42::42', 'fd00:a9fe:a9fe::1', 'fd00:c1::a9fe:a9fe'],
  ['credentials of containers', 'fd00:ec2::23', 'fd00:ec2:ffff::1', 'fd00:100::100:200'],
  ['zone ids', 'fe80::1%eth0', '::1%lo', '2606:4700::1111%1'],
  ['IETF protocol assignments', '192.0.0.1', '192.0.0.192', '192.0.0.255', '2001:1::1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['relays', '192.88.99.1', '192.52.193.1', '192.31.196.1', '192.175.48.1', '2620:4f:8000::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff00::1', 'ff02::1'],
  ['reserved', '240.0.0.1', '255.255.255.254', '100::1', '100:0:0:1::1', '5f00::1', '1::1'],
  ['unassigned', '4000::1', '6000::1', '8000::1', 'e000::1', 'fe00::1'],
  ['broadcast', '255.255.255.255'],
  ['site-local', 'fec0::1', 'feff::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::ffff:0:7f00:1'],
  ['IPv4-compatible', '::7f00:1', '::127.0.0.1', '::a00:1', '::808:808'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::7f00:1', '64:ff9b:1:ffff::a00:1'],
  ['6to4', '2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1'],
  ['Teredo', '2001::1', '2001:0:7f00:1::80ff:fffe'],
  ['ISATAP', '2606:4700::5efe:7f00:1', '2606:4700::200:5efe:a00:1'],
  ['ORCHID', '2001:10::1', '2001:20::1', '2001:2f:ffff::1'],
];

const NO_ADDRESSES = ['', 'localhost', '127.1', '0x7f.1', '017700000001', '2130706433', '1.1.1.1 '];

describe('an address', () => {
  it.each([...PUBLIC, ...PUBLIC_IPV6])('%s is public', (address) => {
    expect(isAllowedAddress(address, false)).toBe(true);
    expect(isAllowedAddress(address, true)).toBe(true);
  });

  it.each(PRIVATE)('%s is private', (address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
    expect(isAllowedAddress(address, true)).toBe(true);
  });

  it.each(NEVER)('is never allowed: %s', (_, ...addresses) => {
    const allowed = addresses.filter(
      (address) => isAllowedAddress(address, false) || isAllowedAddress(address, true),
    );
    expect(allowed).toEqual([]);
  });

  it.each(NO_ADDRESSES)('is accepted in its canonical spelling only, unlike %j', (text) => {
    expect(isAllowedAddress(text, true)).toBe(false);
  });

  /** The agents allow every address that `ipaddr.js` calls `unicast`; this is why they are not used alone. */
  it('is checked more strictly than the library of the agents does', () => {
    const letThrough = NEVER.flatMap(([, ...addresses]) => addresses).filter(
      (address) => ipaddr.parse(address).range() === 'unicast',
    );
    expect(letThrough).toEqual(
      expect.arrayContaining(['168.63.129.16', '::7f00:1', '4000::1', '2606:4700::5efe:7f00:1']),
    );
  });
});
