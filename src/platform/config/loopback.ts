import { isIP } from 'node:net';

/** Returns true if only this machine can connect to the address or host name. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost';
}
