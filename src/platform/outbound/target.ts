import { isIP } from 'node:net';
import { isAllowedAddress } from './addresses';

/** Where calls may go. */
export interface OutboundPolicy {
  /** Also loopback, RFC 1918, unique local and carrier-grade NAT addresses. */
  readonly allowPrivateNetworks: boolean;
  readonly allowedPorts: readonly number[] | 'any';
}

/** Names that mean this machine wherever they are looked up (RFC 6761, 6.3). */
const LOOPBACK_NAME = /(^|\.)localhost\.?$/;

/**
 * Why no call may go to this URL, as far as its text tells, or null: "must …", to be said of the URL. Where a host name
 * leads is looked at when it is resolved.
 */
export function faultOfTarget(url: URL, policy: OutboundPolicy): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'must start with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (!isAllowedPort(portOf(url), policy)) return faultOfPort(policy);
  const host = hostOf(url);
  const isAllowed =
    isIP(host) === 0
      ? policy.allowPrivateNetworks || !LOOPBACK_NAME.test(host)
      : isAllowedAddress(host, policy.allowPrivateNetworks);
  return isAllowed ? null : faultOfAddress(policy);
}

/** What is said of a URL that leads to an address to which no call may go. Never which address that is. */
export function faultOfAddress({ allowPrivateNetworks }: OutboundPolicy): string {
  return `must lead to ${allowPrivateNetworks ? 'public or private' : 'public'} addresses only`;
}

/** The host as a resolver takes it: IPv6 addresses without their brackets. */
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

function faultOfPort({ allowedPorts }: OutboundPolicy): string {
  if (allowedPorts === 'any') return 'must not use port 0';
  return `must use one of the ports ${allowedPorts.join(', ')}`;
}
