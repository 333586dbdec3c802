/** Requests of `npm run demo`, the address of the service, and the error for the person at the terminal. */
const ownUrl = `http://127.0.0.1:${process.env.PORT ?? '3000'}`;
export const baseUrl = (process.env.BASE_URL ?? ownUrl).replace(/\/+$/, '');

const LONGEST_ANSWER_MS = 60_000;

/** The demo cannot continue; the message is for the person at the terminal. */
export class DemoError extends Error {}

/**
 * Sends a request; a text as the body is sent as NDJSON, everything else as JSON.
 * @throws {DemoError} when the service does not answer
 */
export async function request(method, path, { body, headers } = {}) {
  const mediaType = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
  const key = process.env.API_KEY;
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': mediaType }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
    });
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

/** @throws {DemoError} when the address does not answer as a ready billing engine */
export async function expectService() {
  const { status, text } = await request('GET', '/health/ready');
  if (status === 200 && parse(text)?.status === 'ok') return;
  throw new DemoError(
    `${baseUrl} answers, but not as a ready billing engine (GET /health/ready: ${status}).\n` +
      'Set BASE_URL to where the service runs.',
  );
}
