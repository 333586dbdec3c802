import supertest from 'supertest';
import type TestAgent from 'supertest/lib/agent';
import { committedDocument } from './documented-answers';

/** Returns an HTTP client that fails a request whose response differs from the OpenAPI document. */
export function checkedClient(url: string): TestAgent {
  return supertest.agent(url).use((request: supertest.Test) => {
    request.expect(({ status, headers, body }: supertest.Response) => {
      const { method } = request;
      const path = request.url.slice(url.length);
      const contentType = headers['content-type'] ?? '';
      const faults = committedDocument().faultsOf({ method, path, status, contentType, body });
      if (faults.length === 0) return;
      throw new Error(
        `${method} ${path} was not answered with ${status} as documented:\n${faults.join('\n')}\n${JSON.stringify(body)}`,
      );
    });
  });
}
