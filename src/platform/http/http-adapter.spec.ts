import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { HttpAdapter } from './http-adapter';

describe('the HTTP adapter', () => {
  const adapter = new HttpAdapter();
  const express: Express = adapter.getInstance();
  let server: Server;

  beforeAll(async () => {
    adapter.initHttpServer();
    server = adapter.getHttpServer();
    express.post('/echo/:name', (request, response) => {
      response.status(201).json({ name: request.params['name'], host: request.get('host') });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('receives requests that have the prototypes of Express before Express handles them', async () => {
    const received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    const prototypes: unknown[] = [];
    server.prependOnceListener('request', (request: IncomingMessage, response: ServerResponse) => {
      prototypes.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    });
    const answer = await fetch(`${url()}/echo/ada`, { method: 'POST' });
    await answer.arrayBuffer();
    expect(prototypes[0]).toBe(express.request);
    expect(prototypes[1]).toBe(express.response);
    const [request, response] = await received;
    expect(Object.getPrototypeOf(request)).toBe(express.request);
    expect(Object.getPrototypeOf(response)).toBe(express.response);
  });

  it('has the members of Express on requests and responses', async () => {
    const answer = await fetch(`${url()}/echo/ada`, { method: 'POST' });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ name: 'ada', host: new URL(url()).host });
  });
});
