import { once } from 'node:events';
import { get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { until } from '../../../test/support/until';
import { authenticate, type Principal, principalWith } from '../access';
import { unauthenticated } from '../errors';
import { sendLines } from './send-lines';

describe('lines of which none is found', () => {
  let server: Server;
  let isRevoked: boolean;
  let reading: 'not begun' | 'begun' | 'ended';

  async function* search(): AsyncGenerator<null> {
    reading = 'begun';
    try {
      while (server.listening) {
        await new Promise((resolve) => setImmediate(resolve));
        yield null;
      }
    } finally {
      if (server.listening) reading = 'ended';
    }
  }

  beforeEach(async () => {
    isRevoked = false;
    reading = 'not begun';
    const verify = (): Principal => {
      if (isRevoked) throw unauthenticated('unknown');
      return principalWith('key', 'key_1', []);
    };
    const app = express();
    app.use(authenticate(() => false, { credential: verify, session: verify }));
    app.use((_request, response) => void sendLines(response, search()));
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => server.close());

  async function ask() {
    const { port } = server.address() as AddressInfo;
    const asked = get({ port, headers: { Authorization: 'Bearer secret' } });
    asked.on('error', () => undefined);
    await until('the lines are being read', () => reading === 'begun');
    return asked;
  }

  const untilEnded = () => until('reading has ended', () => reading === 'ended', 5_000);

  it('are not looked for after the client has left', async () => {
    (await ask()).destroy();
    await untilEnded();
  });

  it('are not looked for after the credential was revoked', async () => {
    const asked = await ask();
    isRevoked = true;
    await untilEnded();
    asked.destroy();
  });
});
