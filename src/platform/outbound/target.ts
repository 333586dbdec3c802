import { isIP } from 'node:net';
import { isAllowedAddress } from './addresses';

export interface OutboundPolicy {
  /** If true, loopback, RFC 1918, unique local and carrier-grade NAT addresses are allowed too. */
  readonly allowPrivateNetworks: boolean;
  readonly allowedPorts: readonly number[] | 'any';
}

/** Host names that always mean this machine (RFC 6761, 6.3). */
const LOOPBACK_NAME = /(^|\.)localhost\.?$/;

/**
 * Returns the rule that this URL breaks, such as "must start with http:// or https://"; null if calls may go to the
 * URL. Checks only the text of the URL. The addresses of its host name are checked when the name is resolved.
 */
export function findTargetFault(url: URL, policy: OutboundPolicy): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'must start with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (!isAllowedPort(portOf(url), policy)) return portFault(policy);
  const host = hostOf(url);
  const isAllowed =
    isIP(host) === 0
      ? policy.allowPrivateNetworks || !LOOPBACK_NAME.test(host)
      : isAllowedAddress(host, policy.allowPrivateNetworks);
  return isAllowed ? null : addressFault(policy);
}

/** Returns the message for a URL that resolves to a forbidden address, without that address. */
export function addressFault({ allowPrivateNetworks }: OutboundPolicy): string {
  return `must lead to ${allowPrivateNetworks ? 'public or private' : 'public'} addresses only`;
}

/** Returns the host as a resolver expects it: IPv6 addresses without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function isAllowedPort(port: number, { allowedPorts }: OutboundPolicy): boolean {
  return allowedPorts === 'any' ? port !== 0 : allowedPorts.includes(port);
}

function portFault({ allowedPorts }: OutboundPolicy): string {
  if (allowedPorts === 'any') return 'must not use port 0';
  return `must use one of the ports ${allowedPorts.join(', ')}`;
}
