import { lookup, Resolver } from 'node:dns/promises';
import type { OutboundPolicy } from './target';

export abstract class HostResolver {
  /** @throws when the name has no addresses, or none was found within the time limit */
  abstract resolve(host: string, limitMs: number): Promise<readonly string[]>;
}

/** Timeout of the first query. If its packet is lost, the query is sent again, with twice the timeout. */
const FIRST_TRY_MS = 1_500;
const TRIES = 2;

/**
 * Queries name servers over its own sockets. Customers choose the host names, so the name servers may be slow. The
 * system's resolver would block threads that files and cryptography also need. Ignores the hosts file and search
 * domains, which are for private names.
 */
export class DnsResolver extends HostResolver {
  override async resolve(host: string, limitMs: number): Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
    const limit = setTimeout(() => resolver.cancel(), limitMs);
    try {
      const [ipv4, ipv6] = await Promise.allSettled([
        resolver.resolve4(host),
        resolver.resolve6(host),
      ]);
      if (ipv4.status === 'rejected') {
        if (ipv6.status === 'rejected') throw ipv4.reason;
        return ipv6.value;
      }
      return ipv6.status === 'rejected' ? ipv4.value : [...ipv4.value, ...ipv6.value];
    } finally {
      clearTimeout(limit);
    }
  }
}

/** Uses the resolver of the system, with the hosts file and the names of the local network. */
export class SystemResolver extends HostResolver {
  override async resolve(host: string, limitMs: number): Promise<readonly string[]> {
    let limit: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      limit = setTimeout(() => reject(new Error('The system did not answer in time.')), limitMs);
    });
    try {
      const found = await Promise.race([lookup(host, { all: true }), tooLate]);
      return found.map(({ address }) => address);
    } finally {
      clearTimeout(limit);
    }
  }
}

/** Returns the system's resolver if private networks are allowed, because only that resolver knows private names. */
export function resolverFor({ allowPrivateNetworks }: OutboundPolicy): HostResolver {
  return allowPrivateNetworks ? new SystemResolver() : new DnsResolver();
}
