import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** What `ipaddr.js` calls the networks an operator may open. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
]);

/** All that is handed out of IPv6 (IANA, "IPv6 Global Unicast Address Assignments"). Outside of it nothing is public. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Where clouds hand credentials to their machines, beyond link-local addresses: Alibaba, Azure, AWS, Google. */
const METADATA_SERVICES = [
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map((network) => ipaddr.parseCIDR(network));

/**
 * Whether a connection may be made to this address. Of all kinds of addresses only public unicast is, and private networks
 * where they are allowed; never link-local, metadata services, multicast, reserved and documentation addresses, nor any
 * that hold an IPv4 address which a translator or tunnel would make of them.
 *
 * @param address as a resolver or a URL parser writes it; other spellings and zone ids are not allowed
 */
export function isAllowedAddress(address: string, allowPrivateNetworks: boolean): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (METADATA_SERVICES.some((network) => isIn(parsed, network))) return false;
  const range: string = parsed.range();
  if (allowPrivateNetworks && PRIVATE_RANGES.has(range)) return true;
  if (range !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (isIn(parsed, GLOBAL_UNICAST) && !isIsatap(parsed));
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

/** An IPv4 address in the lower half of an IPv6 one, behind `0:5efe` or `200:5efe` (RFC 5214, 6.1). */
function isIsatap(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const bytes = address.toByteArray();
  const [first, ...rest] = bytes.slice(8, 12);
  return (first === 0 || first === 2) && rest.join() === '0,94,254';
}
