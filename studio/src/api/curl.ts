import { bodyOf, type ChangeRequest } from './client';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a shell command that sends the request with the API key of the person who runs it. */
export function toCurl(request: ChangeRequest): string {
  const { method, path, idempotencyKey, ifMatch } = request;
  const body = bodyOf(request);
  const parts = [
    `curl -X ${method} ${quoted(location.origin + path)}`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...(idempotencyKey === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`]),
    ...(ifMatch === undefined ? [] : [`-H ${quoted(`If-Match: ${ifMatch}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}
