import type { CustomFetch, CustomFetchOptions } from 'openid-client';
import { OutboundError, type OutboundHttp } from '../../../platform/outbound';

const DEADLINE_MS = 10_000;
/** Maximum number of bytes that are kept of a response. Keys, tokens and claims of providers are far smaller. */
const MAX_BYTES = 1_000_000;

/** Thrown if a call to the OpenID provider fails or is not allowed, for example over plain HTTP. */
export class OpenIdCallError extends Error {
  override readonly name = 'OpenIdCallError';
}

/**
 * Returns a `fetch` function for `openid-client`. It sends requests through `http`, so that the policy of `http` for
 * outbound calls applies.
 */
export function fetchThrough(http: OutboundHttp, allowsPlainHttp: boolean): CustomFetch {
  return async (url, { headers, body }) => {
    if (!allowsPlainHttp && new URL(url).protocol !== 'https:') {
      throw new OpenIdCallError('The OpenID provider must be called with https.');
    }
    const request = { url, headers, deadlineMs: DEADLINE_MS, keepBytes: MAX_BYTES };
    const text = textOf(body);
    const answer = await call(() =>
      text === null ? http.get(request) : http.post({ ...request, body: text }),
    );
    return new Response(answer.bodyStart, {
      status: answer.status,
      headers: answer.contentType === null ? {} : { 'Content-Type': answer.contentType },
    });
  };
}

async function call<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    throw new OpenIdCallError(`The OpenID provider cannot be reached: ${cause.message}`, { cause });
  }
}

/**
 * Returns the body of a request as text; null if there is none. `openid-client` sends only forms.
 * @throws {OpenIdCallError} for a body of another kind
 */
function textOf(body: CustomFetchOptions['body']): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new OpenIdCallError('The OpenID client sent a body of an unknown kind.');
}
