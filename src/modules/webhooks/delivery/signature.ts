import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

export interface SignedMessage {
  /** The event's id: the same in every attempt. */
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The `webhook-signature` header of Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, once for each secret
 * that is good, so that a receiver with any of them can check it.
 * @param secrets `whsec_` and the base64 of the key
 */
export function signatureHeader(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
