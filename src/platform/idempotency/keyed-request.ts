import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { canonicalJson } from '../../core/canonical-json';
import { OPEN, principalOf } from '../access/principal';
import { idempotencyKeyMismatch, malformedRequest } from '../errors';
import { HEADER_KEY_TEXT } from '../http/field-rules';
import type { KeyedRequest } from './idempotency.types';

/**
 * Returns the idempotency key of a request, or null.
 * @param bodyField body field that may contain the key instead of the header; null: there is no such field
 * @throws {ProblemError} `malformed_request` if the header is repeated or its key is invalid,
 *   `idempotency_key_mismatch` for different keys in header and body
 */
export function idempotencyKeyOf(request: Request, bodyField: string | null): string | null {
  // `headers` would join several headers into one text, which is a valid key.
  const [inHeader, ...others] = request.headersDistinct['idempotency-key'] ?? [];
  if (others.length > 0) throw malformedRequest('The request has several Idempotency-Key headers.');
  if (inHeader !== undefined && !HEADER_KEY_TEXT.test(inHeader)) {
    throw malformedRequest(
      'The Idempotency-Key header must be 1 to 255 printable ASCII characters.',
    );
  }
  const inBody =
    bodyField === null ? undefined : (Reflect.get(request.body as object, bodyField) as unknown);
  // A value of another type or form is left to body validation, which names the field.
  if (typeof inBody !== 'string' || !HEADER_KEY_TEXT.test(inBody)) return inHeader ?? null;
  if (inHeader !== undefined && inHeader !== inBody) throw idempotencyKeyMismatch();
  return inBody;
}

/**
 * Returns the key, prefixed with the id of the principal (without a prefix for `AUTH=open`), and a fingerprint of
 * method, path, query and body. The fingerprint ignores the order of query parameters with different names and of body
 * fields, and the key itself, in the header or body.
 */
export function toKeyedRequest(
  request: Request,
  key: string,
  bodyField: string | null,
): KeyedRequest {
  const body = Object.fromEntries(
    Object.entries({ ...(request.body as object) }).filter(([name]) => name !== bodyField),
  );
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.path}${sortedQuery(request)}\n${canonicalJson(body)}`)
    .digest('hex');
  return { key: keyOfPrincipal(key, principalOf(request).id), fingerprint };
}

/**
 * Prefixes the key with the id of the principal, so that two principals never see each other's answers. A line break
 * separates id and key, because a key cannot contain a line break. With `AUTH=open`, keys have no prefix.
 */
function keyOfPrincipal(key: string, principalId: string): string {
  return principalId === OPEN.id ? key : `${principalId}\n${key}`;
}

/** Returns the key as the client sent it. */
export function withoutPrincipal(storedKey: string): string {
  return storedKey.slice(storedKey.indexOf('\n') + 1);
}

function sortedQuery({ originalUrl }: Request): string {
  const [, text = ''] = originalUrl.split('?', 2);
  const query = new URLSearchParams(text);
  query.sort();
  return query.size === 0 ? '' : `?${query.toString()}`;
}
