import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestApp, type TestApp } from '../support/test-app';

describe('the description of the API', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('that a running service serves is the committed one, which is made without starting it', async () => {
    const committed = await readFile(join(__dirname, '../../openapi/openapi.json'), 'utf8');
    const { status, body } = await engine.http.get('/openapi.json');
    expect(status).toBe(200);
    expect(body).toEqual(JSON.parse(committed));
  });

  it('is shown to people at /docs', async () => {
    const { status, text } = await engine.http.get('/docs');
    expect(status).toBe(200);
    expect(text).toContain('swagger-ui');
  });
});
