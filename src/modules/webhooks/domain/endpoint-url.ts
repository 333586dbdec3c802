/** Why a URL cannot be one that events are sent to. Never holds the URL, which may hold a credential. */
export interface UrlFault {
  readonly message: string;
}

export const LONGEST_URL = 2_048;

/** Scheme, `//` and a host, spelled out: a parser would mend `http:host`, `http:\\host` and `http:///host`. */
const WRITTEN_OUT = /^https?:\/\/[^/?#\\]/i;
const AUTHORITY = /^[^:]+:\/\/(?<authority>[^/?#]*)/;
/** A parser drops these, or turns them into something else. */
const UNSAFE = /[\s\\]|\p{Cc}/u;

type Rule = readonly [isBroken: (url: string) => boolean, message: string];

/** In this order: each may rely on those before it. */
const RULES: readonly Rule[] = [
  [(url) => url.length > LONGEST_URL, `must have at most ${LONGEST_URL} characters`],
  [(url) => UNSAFE.test(url), 'must not hold spaces, control characters or backslashes'],
  [(url) => !WRITTEN_OUT.test(url), 'must start with http:// or https:// and a host'],
  [(url) => authorityOf(url).includes('@'), 'must not hold a user name or password'],
  [(url) => url.includes('#'), 'must not have a fragment (#...), which is never sent'],
  [(url) => !URL.canParse(url), 'must be a URL with a valid host and port'],
];

/**
 * What keeps a URL from being that of an endpoint, or null. By its spelling alone: where its host leads is looked at
 * whenever something is sent.
 */
export function faultOfUrl(url: string): UrlFault | null {
  const broken = RULES.find(([isBroken]) => isBroken(url));
  return broken === undefined ? null : { message: broken[1] };
}

function authorityOf(url: string): string {
  return AUTHORITY.exec(url)?.groups?.['authority'] ?? '';
}
