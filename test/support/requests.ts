import type { TestApp } from './test-app';

/** Sends a POST that must succeed; returns its answer. */
export async function post<Body = { readonly id: string }>(
  engine: TestApp,
  path: string,
  body: object = {},
): Promise<Body> {
  const answer = await engine.http.post(path).send(body);
  if (answer.status !== 200 && answer.status !== 201) {
    throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  return answer.body as Body;
}
