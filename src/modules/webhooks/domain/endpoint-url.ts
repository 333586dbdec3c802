/** Reason why a URL is not allowed. The message never contains the URL, which may contain a credential. */
export interface UrlFault {
  readonly message: string;
}

export const MAX_URL_LENGTH = 2_048;

/** Requires a scheme, `//` and a host, unlike URL parsers, which accept `http:host`, `http:\\host`, `http:///host`. */
const WRITTEN_OUT = /^https?:\/\/[^/?#\\]/i;
const AUTHORITY = /^[^:]+:\/\/(?<authority>[^/?#]*)/;
/** Characters that URL parsers remove or replace. */
const UNSAFE = /[\s\\]|\p{Cc}/u;

type UrlRule = readonly [isBroken: (url: string) => boolean, message: string];

/** Rules are checked in this order: a rule may rely on the rules before it. */
const RULES: readonly UrlRule[] = [
  [(url) => url.length > MAX_URL_LENGTH, `must have at most ${MAX_URL_LENGTH} characters`],
  [(url) => UNSAFE.test(url), 'must not hold spaces, control characters or backslashes'],
  [(url) => !WRITTEN_OUT.test(url), 'must start with http:// or https:// and a host'],
  [(url) => authorityOf(url).includes('@'), 'must not hold a user name or password'],
  [(url) => url.includes('#'), 'must not have a fragment (#...), which is never sent'],
  [(url) => !URL.canParse(url), 'must be a URL with a valid host and port'],
  [(url) => /%(?![\da-f]{2})/i.test(url), 'must have two hexadecimal digits after each %'],
];

/**
 * Returns the reason why the text of a URL is not allowed; null if it is allowed. The address of the host is checked
 * elsewhere, at registration and at every attempt.
 */
export function faultOfUrl(url: string): UrlFault | null {
  const broken = RULES.find(([isBroken]) => isBroken(url));
  return broken === undefined ? null : { message: broken[1] };
}

function authorityOf(url: string): string {
  return AUTHORITY.exec(url)?.groups?.['authority'] ?? '';
}
