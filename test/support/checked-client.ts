import { Agent } from 'node:http';
import supertest from 'supertest';
import type TestAgent from 'supertest/lib/agent';
import { committedDocument } from './documented-answers';

/**
 * Returns an HTTP client that fails a request if the response differs from the OpenAPI document. Keeps connections
 * open, as clients in production do.
 */
export function checkedClient(url: string): TestAgent {
  const connections = new Agent({ keepAlive: true });
  const check = (request: supertest.Test): void => {
    void request.agent(connections);
    const fault = new Error();
    // Begins the stack at the line of the test. The stack is formatted only if the error is thrown.
    Error.captureStackTrace(fault, check);
    withoutStack(() => {
      void request.expect((response: supertest.Response) => {
        const { status, body } = response;
        const headers = response.headers as Readonly<Record<string, string>>;
        const { method } = request;
        const path = request.url.slice(url.length);
        const contentType = headers['content-type'] ?? '';
        const answer = { method, path, status, headers, contentType, body };
        const faults = committedDocument().faultsOf(answer);
        if (faults.length === 0) return;
        fault.message = `${method} ${path} was not answered with ${status} as documented:\n${faults.join('\n')}\n${JSON.stringify(body)}`;
        throw fault;
      });
    });
  };
  return supertest.agent(url).use(check);
}

/**
 * Runs the work without stack traces. Otherwise supertest formats a stack for every expectation, even for one that is
 * met.
 */
function withoutStack(work: () => void): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  work();
  Error.stackTraceLimit = stackTraceLimit;
}
