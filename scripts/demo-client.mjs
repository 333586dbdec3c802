/** HTTP client of `npm run demo`: the address of the service, requests to it, and an error that is shown in the terminal. */
import { randomUUID } from 'node:crypto';

const ownUrl = `http://127.0.0.1:${process.env.PORT ?? '3000'}`;
export const baseUrl = (process.env.BASE_URL ?? ownUrl).replace(/\/+$/, '');

const ANSWER_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 10;
const MAX_RETRY_AFTER_S = 30;

/** Thrown when the demo cannot continue. The message is shown in the terminal. */
export class DemoError extends Error {}

/**
 * Returns the header `Idempotency-Key` for a POST whose body contains no key. In an NDJSON body, each line contains its
 * own key.
 */
function keyOf(method, body) {
  if (method !== 'POST' || typeof body === 'string' || body?.idempotencyKey !== undefined)
    return {};
  return { 'Idempotency-Key': randomUUID() };
}

/**
 * Sends a request: a text body as NDJSON, any other body as JSON. If the response has `Retry-After`, sends the same
 * request with the same idempotency key again after that many seconds.
 * @throws {DemoError} when the service does not answer
 */
export async function request(method, path, { body, headers } = {}) {
  const mediaType = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
  const apiKey = process.env.API_KEY;
  const message = {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': mediaType }),
      ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
      ...keyOf(method, body),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await exchange(path, message);
    const seconds = Number(answer.headers.get('Retry-After') ?? NaN);
    if (Number.isNaN(seconds) || attempt === MAX_ATTEMPTS) return answer;
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(seconds, MAX_RETRY_AFTER_S) * 1_000),
    );
  }
}

async function exchange(path, message) {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const response = await fetch(`${baseUrl}${path}`, { ...message, signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new DemoError(
      `No answer from ${baseUrl} (${reason}).\n` +
        'Start the service with `npm start` in another terminal, or set BASE_URL to where it runs.',
    );
  }
}

export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws {DemoError} if no billing engine that is ready answers at the address */
export async function expectService() {
  const { status, text } = await request('GET', '/health/ready');
  if (status === 200 && parse(text)?.status === 'ok') return;
  throw new DemoError(
    `${baseUrl} answers, but not as a ready billing engine (GET /health/ready: ${status}).\n` +
      'Set BASE_URL to where the service runs.',
  );
}
