import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { routeExactly } from './routes';

describe('exact routes', () => {
  const app = express();
  const server = createServer(app);

  beforeAll(async () => {
    routeExactly(app);
    for (const path of [
      '/v1/plans',
      '/v1/plans/:id',
      '/v1/plans/:id/versions',
      '/v1/invoices/:id.pdf',
      '/files/*path',
      '/docs{/:page}',
      '/a\\:b',
    ]) {
      app.get(path, (_request, response) => {
        response.json(path);
      });
    }
    app.get(/^\/pattern-\d+$/, (_request, response) => {
      response.json('pattern');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each([
    ['/v1/plans', '/v1/plans'],
    ['/v1/plans?limit=1', '/v1/plans'],
    ['/v1/plans/plan_1', '/v1/plans/:id'],
    ['/v1/plans/%2F', '/v1/plans/:id'],
    ['/v1/plans/plan_1/versions', '/v1/plans/:id/versions'],
    ['/v1/invoices/inv_1.pdf', '/v1/invoices/:id.pdf'],
    ['/files/a/b', '/files/*path'],
    ['/docs', '/docs{/:page}'],
    ['/docs/first', '/docs{/:page}'],
    ['/a:b', '/a\\:b'],
    ['/pattern-12', 'pattern'],
    ['/v1/plans/', null],
    ['/V1/plans', null],
    ['/v1/plan', null],
    ['/v1/%70lans', null],
    ['/v1/plans/plan_1/other', null],
    ['/v2/plans/plan_1', null],
    ['/documents', null],
  ])('answer %s by the route %s', async (path, route) => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    const body: unknown = answer.ok ? await answer.json() : (await answer.text(), null);
    expect(body).toBe(route);
  });
});
