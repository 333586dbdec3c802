import type { ChangeRequest } from './client';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a shell command that sends the request with an API key of its reader. */
export function toCurl({ method, path, body, idempotencyKey }: ChangeRequest): string {
  const parts = [
    `curl -X ${method} ${quoted(location.origin + path)}`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...(idempotencyKey === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}
