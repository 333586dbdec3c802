import ipaddr from 'ipaddr.js';

const NETWORK_GROUPS = 4;

/**
 * Returns the part of an address that is counted as one caller: an IPv4 address, or the /64 network of an IPv6 address,
 * because one host can use all addresses of such a network. `unknown` for other texts, which a proxy may have passed on.
 */
export function countedAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${parsed.toNormalizedString().split(':').slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
