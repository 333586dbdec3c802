import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of host names. */
export abstract class HostResolver {
  /**
   * All addresses of a name, at least one.
   * @throws where there is none, or none was found within the limit
   */
  abstract addressesOf(host: string, limitMs: number): Promise<readonly string[]>;
}

/** One try and, after a lost packet, another of twice its time. */
const FIRST_TRY_MS = 1_500;
const TRIES = 2;

/**
 * Asks the name servers, over sockets of its own. What customers name is resolved by servers they run: the system's
 * resolver would wait for slow ones in the few threads that files and cryptography need as well. Reads no hosts file and
 * appends no search domain, both of which are about private names.
 */
export class DnsResolver extends HostResolver {
  override async addressesOf(host: string, limitMs: number): Promise<readonly string[]> {
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

/** Asks the system, as every other program does: with the hosts file and the names of the local network. */
export class SystemResolver extends HostResolver {
  override async addressesOf(host: string, limitMs: number): Promise<readonly string[]> {
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
