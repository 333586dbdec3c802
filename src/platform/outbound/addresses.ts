import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Address ranges that an operator may allow, by their names in `ipaddr.js`. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
]);

/** Range of all public IPv6 addresses assigned so far (IANA, "IPv6 Global Unicast Address Assignments"). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Addresses at which clouds (Alibaba, Azure, AWS, Google, Linode, Oracle, Scaleway) give credentials to their machines.
 * Link-local addresses are not listed, because they are always refused.
 */
const METADATA_SERVICES = [
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:42::42/128',
  'fd00:100::100:200/128',
  'fd00:a9fe:a9fe::1/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((network) => ipaddr.parseCIDR(network));

/**
 * Returns true if a connection may be made to this address. Allows public unicast addresses, and private networks if
 * configured. Never allows link-local addresses, metadata services, multicast, reserved or documentation addresses, or
 * IPv6 addresses that embed an IPv4 address for a translator or tunnel.
 * @param address in the form that a resolver or a URL parser writes; other spellings and zone ids are refused
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

/** Returns true for an ISATAP address: an IPv4 address after `0:5efe` or `200:5efe` (RFC 5214, 6.1). */
function isIsatap(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const bytes = address.toByteArray();
  const [first, ...rest] = bytes.slice(8, 12);
  return (first === 0 || first === 2) && rest.join() === '0,94,254';
}
