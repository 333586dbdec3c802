import createClient from 'openapi-fetch';
import createHooks from 'openapi-react-query';
import type { components, paths } from '../../generated/api';

export type Schemas = components['schemas'];
export type ProblemBody = Schemas['ProblemDto'];

/** A failed request. `status` is 0 if there was no response; `problem` is null if the service did not send the response. */
export class RequestFailed extends Error {
  readonly problem: ProblemBody | null;
  readonly status: number;

  constructor(message: string, status: number, problem: ProblemBody | null = null) {
    super(message);
    this.status = status;
    this.problem = problem;
  }
}

/**
 * Sends a request, as `fetch` does.
 * @throws {RequestFailed} when there is no answer
 */
export async function reach(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request);
  } catch (error) {
    // If there is no response, `fetch` throws a TypeError. Its message differs between browsers.
    if (!(error instanceof TypeError)) throw error;
    throw new RequestFailed(
      'The service cannot be reached. Check your connection and try again.',
      0,
    );
  }
}

/** Error codes for a wrong code or password. They have status 401 too, but do not mean that the session has ended. */
const WRONG_INPUT: readonly string[] = ['second_factor_failed', 'sign_in_failed'];

/** Returns true if the service refused a request because the session has ended. */
export function isSessionOver(error: unknown): boolean {
  if (!(error instanceof RequestFailed) || error.status !== 401) return false;
  return !WRONG_INPUT.includes(error.problem?.code ?? '');
}

/** Returns true if the service answered that there is no such object. The 404 of a gateway does not say so. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof RequestFailed && error.status === 404 && error.problem !== null;

/** A request that changes data. Dialogs send it and can show it as a curl command. */
export interface ChangeRequest {
  readonly method: 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Entity tag of the object as it was shown. The service refuses the change if the object has changed since. */
  readonly ifMatch?: string | undefined;
  /** Plan version of the preview as it was shown, sent in the body. The service refuses to sell another one. */
  readonly planVersionId?: string | undefined;
}

/** Returns the body of a request as it is sent. */
export const bodyOf = ({ body, planVersionId }: ChangeRequest): unknown =>
  planVersionId === undefined ? body : { ...(body as object), plan_version_id: planVersionId };

let session: Schemas['CurrentSessionDto'] | null = null;

/** Sets the session whose CSRF token is sent with each change; null without a session. */
export function setSession(current: Schemas['CurrentSessionDto'] | null): void {
  session = current;
}

/** Returns the id of the admin who sends changes; null without a session. */
export const sendingAdmin = (): string | null => session?.admin.id ?? null;

/** Returns the problem of an error response. Null if it is none of the service, such as the error of a gateway. */
async function problemOf(response: Response): Promise<ProblemBody | null> {
  try {
    const body = (await response.clone().json()) as ProblemBody | null;
    return body?.type === `urn:billing-engine:problem:${body?.code}` ? body : null;
  } catch {
    return null;
  }
}

/** Returns the error for an error response. */
export async function failureOf(response: Response): Promise<RequestFailed> {
  const { status } = response;
  const problem = await problemOf(response);
  return new RequestFailed(problem?.detail ?? `The service answered ${status}.`, status, problem);
}

export const api = createClient<paths, `application/${string}`>({
  baseUrl: '/',
  fetch: (request) => reach(request),
  // Several values of a parameter are separated by commas.
  querySerializer: { array: { style: 'form', explode: false } },
});

/** Returns the entity tag of a response as the service sent it: a proxy that compresses makes it weak or `"3-gzip"`. */
const tagOf = ({ headers }: Response): string | undefined =>
  headers.get('ETag')?.replace(/^(?:W\/)?("\d+).*"$/, '$1"');

api.use({
  async onResponse({ response }) {
    if (!response.ok) throw await failureOf(response);
  },
});

/** Typed queries: `$api.useQuery('get', '/v1/customers/{id}', …)`. */
export const $api = createHooks(api);

async function sendRequest(request: ChangeRequest): Promise<Response> {
  const { method, path, idempotencyKey, ifMatch } = request;
  const body = bodyOf(request);
  const response = await reach(path, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(session !== null && { 'X-CSRF-Token': session.csrf_token }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await failureOf(response);
  return response;
}

/**
 * Sends a change and returns the body of the answer.
 * @throws {RequestFailed} for an error response
 */
export async function send<Answer>(request: ChangeRequest): Promise<Answer> {
  return (await sendForTag<Answer>(request)).answer;
}

/** A body, with the entity tag of the object. */
export interface Tagged<Answer> {
  readonly answer: Answer;
  readonly tag: string | undefined;
}

/** As {@link send}, with the entity tag of the answer. */
export async function sendForTag<Answer>(request: ChangeRequest): Promise<Tagged<Answer>> {
  const response = await sendRequest(request);
  const text = await response.text();
  return { answer: (text === '' ? undefined : JSON.parse(text)) as Answer, tag: tagOf(response) };
}

const CUT_OFF = 'The answer was cut off, so it is incomplete. Try again.';

/**
 * Sends a request whose response is NDJSON, and calls `onLine` with each line as it arrives.
 * @param onLine returns true for a line that can be the last one
 * @throws {RequestFailed} for an error response, or if the answer was cut off
 */
export async function sendForLines(
  request: ChangeRequest,
  onLine: (line: unknown) => boolean,
): Promise<void> {
  const { body, status } = await sendRequest(request);
  const cutOff = new RequestFailed(CUT_OFF, status);
  if (body === null) throw cutOff;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let isComplete = false;
  for (;;) {
    const { value, done } = await reader.read().catch(() => {
      throw cutOff;
    });
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) isComplete = onLine(JSON.parse(line));
  }
  if (!isComplete || rest !== '') throw cutOff;
}

/** Answer of the client to a request. */
export type Answered<Body> = Promise<{ data?: Body | undefined; response: Response }>;

/** Returns the body of a successful response. For error responses, the middleware above throws. */
export async function read<Body>(answered: Answered<Body>): Promise<NonNullable<Body>> {
  return (await readTagged(answered)).answer;
}

/** As {@link read}, with the entity tag of the object. */
export async function readTagged<Body>(
  answered: Answered<Body>,
): Promise<Tagged<NonNullable<Body>>> {
  const { data, response } = await answered;
  if (data === undefined || data === null)
    throw new RequestFailed('The answer has no body.', response.status);
  return { answer: data, tag: tagOf(response) };
}
