import ipaddr from 'ipaddr.js';

const NETWORK_GROUPS = 4;

/** An address with a port, as some proxies pass it on: `192.0.2.7:4711`, `[2001:db8::9]:4711`. */
const WITH_PORT = /^(?:\[(?<six>[^\]]+)\](?::\d+)?|(?<four>\d+\.\d+\.\d+\.\d+):\d+)$/;

/**
 * Returns the part of an address that is counted as one caller: an IPv4 address, or the /64 network of an IPv6 address.
 * One host can use all addresses of a /64 network. Returns `unknown` for other texts, which a proxy may have passed on.
 */
export function rateLimitAddress(address: string): string {
  const { six, four } = WITH_PORT.exec(address)?.groups ?? {};
  const alone = six ?? four ?? address;
  if (!ipaddr.isValid(alone)) return 'unknown';
  const parsed = ipaddr.process(alone);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${parsed.toNormalizedString().split(':').slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/**
 * Returns the /48 network of a /64 network that {@link rateLimitAddress} returned. Returns null for an IPv4 address and
 * for `unknown`. A site often has a /48, which has 65,536 networks of /64.
 */
export function widerNetwork(address: string): string | null {
  if (!address.endsWith('::/64')) return null;
  return `${address
    .split(':')
    .slice(0, NETWORK_GROUPS - 1)
    .join(':')}::/48`;
}
