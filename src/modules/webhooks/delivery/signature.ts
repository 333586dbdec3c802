import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

export interface SignedMessage {
  /** Id of the event, the same in every attempt. */
  readonly id: string;
  /** Unix time of this attempt, in seconds. */
  readonly timestamp: number;
  readonly body: string | Buffer;
}

/**
 * Returns the `webhook-signature` header of Standard Webhooks 1.0. The header has one HMAC-SHA256 of
 * `id.timestamp.body` for each secret, so that a receiver can verify the message with any valid secret.
 * @param secrets `whsec_` followed by the base64 of the key
 */
export function signatureHeader(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');
}
