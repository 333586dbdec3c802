import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import supertest from 'supertest';
import type TestAgent from 'supertest/lib/agent';
import { serveStudio } from '../../src/studio-pages';
import { startTestApp, type TestApp } from '../support/test-app';

const INDEX = '<!doctype html><title>Console</title>';
const SCRIPT = `export const text = '${'console '.repeat(200)}';`;

describe('the pages of the console', () => {
  let directory: string;
  let http: TestAgent;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'studio-'));
    const settings = {
      auth: 'required',
      openIdConnect: true,
      currencyDigits: new Map([['KWD', 3]]),
    } as const;
    http = supertest(express().use(serveStudio(directory, settings)));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function build(): Promise<void> {
    await mkdir(join(directory, 'assets'));
    await writeFile(join(directory, 'index.html'), INDEX);
    await writeFile(join(directory, '.build-stamp'), 'stamp');
    await writeFile(join(directory, 'assets', 'index-1a2b.js'), SCRIPT);
  }

  it('are answered with 503 until they are built, and then without a restart', async () => {
    const missing = await http.get('/studio').expect(503);
    expect(missing.text).toContain('npm run build');
    await build();
    const found = await http.get('/studio').expect(200);
    expect(found.text).toBe(INDEX);
  });

  it.each(['/studio', '/studio/', '/studio/customers/cus_1', '/studio/../package.json'])(
    'are index.html at %s, which is checked again each time',
    async (path) => {
      await build();
      const { text, headers } = await http.get(path).expect(200);
      expect(text).toBe(INDEX);
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['content-security-policy']).toContain("script-src 'self'");
    },
  );

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ])('have assets that are kept for a year, sent as %s', async (accepted, encoding) => {
    await build();
    const { headers, text } = await http
      .get('/studio/assets/index-1a2b.js')
      .set('Accept-Encoding', accepted)
      .buffer()
      .expect(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(Number(headers['content-length']) < SCRIPT.length).toBe(encoding !== undefined);
    if (encoding !== 'br') expect(text).toBe(SCRIPT);
  });

  it.each([
    '/studio/assets/missing.js',
    '/studio/assets/%2e%2e/index.html',
    '/studio/assets/..%2f..%2fpackage.json',
  ])('have no asset %s', async (path) => {
    await build();
    const { headers } = await http.get(path).expect(404);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('have settings that name the sign-in and the digits of currencies', async () => {
    await build();
    const { body } = await http.get('/studio/settings.json').expect(200);
    expect(body).toEqual({
      auth: 'required',
      open_id_connect: true,
      currency_digits: { KWD: 3 },
    });
  });

  it('leave other paths and methods to the service', async () => {
    await build();
    await http.get('/studios').expect(404);
    await http.post('/studio').expect(404);
    const head = await http.head('/studio').expect(200);
    expect(head.text).toBeUndefined();
  });
});

describe('the console of a service that requires a sign-in', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { AUTH: 'required' } });
  });

  afterAll(() => engine.close());

  it('is public, because it holds no data', async () => {
    const { status, headers } = await engine.uncheckedHttp.get('/studio');
    // 503 where the tests run without a build.
    expect([200, 503]).toContain(status);
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    await engine.uncheckedHttp.get('/v1/customers').expect(401);
    await engine.uncheckedHttp.post('/studio/settings.json').expect(401);
  });
});
