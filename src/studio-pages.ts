import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

/** Path of the console (the web interface). Must equal the base path of its build in `studio/vite.config.ts`. */
const STUDIO_PATH = '/studio';
const SETTINGS_PATH = `${STUDIO_PATH}/settings.json`;

/** Content security policy. The console loads everything from this service, and has no inline script or style. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Lets browsers cache an asset for a year, because the name of an asset changes with its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Console not built</title>
<h1>The console is not built</h1>
<p>Run <code>npm ci && npm run build</code>, then reload this page. The API works without it.</p>
`;

/** Settings of the service that the console needs before anybody has signed in. */
export interface StudioPageSettings {
  readonly auth: 'open' | 'required';
  readonly openIdConnect: boolean;
  readonly currencyDigits: ReadonlyMap<string, number>;
}

interface StudioFile {
  readonly mediaType: string;
  readonly body: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

type StudioFiles = ReadonlyMap<string, StudioFile>;

/** Folder of the built console, `dist/studio`, found from `dist/src` (compiled service) or from `src`. */
export const STUDIO_DIRECTORY =
  basename(dirname(__dirname)) === 'dist'
    ? join(__dirname, '../studio')
    : join(__dirname, '../dist/studio');

export function isStudioPath({ path }: Pick<Request, 'path'>): boolean {
  return path === STUDIO_PATH || path.startsWith(`${STUDIO_PATH}/`);
}

/**
 * Middleware that serves the console. The first request reads and compresses all files. Later requests are answered
 * from memory, so a request path never selects a file on disk. Answers 503 as long as there is no build.
 */
export function serveStudio(directory: string, settings: StudioPageSettings): RequestHandler {
  let loading: Promise<StudioFiles | null> | null = null;
  const load = async (): Promise<StudioFiles | null> => {
    loading ??= readBuild(directory, settings);
    const files = await loading.catch((error: unknown) => {
      loading = null;
      throw error;
    });
    if (files === null) loading = null;
    return files;
  };
  return (request, response, next) => {
    if (!isStudioPath(request) || !['GET', 'HEAD'].includes(request.method)) {
      next();
      return;
    }
    load()
      .then((files) => {
        answer(request, response, files);
      })
      .catch(next);
  };
}

function answer(request: Request, response: Response, files: StudioFiles | null): void {
  response.setHeader('Content-Security-Policy', POLICY);
  const index = files?.get(`${STUDIO_PATH}/index.html`);
  if (files === null || index === undefined) {
    response.setHeader('Cache-Control', 'no-store');
    response.status(503).type('html').send(NOT_BUILT);
    return;
  }
  const isAsset = request.path.startsWith(`${STUDIO_PATH}/assets/`);
  // Every other path is a page of the console, whose script reads the path in the browser.
  const file = files.get(request.path) ?? (isAsset ? undefined : index);
  if (file === undefined) {
    response.setHeader('Cache-Control', 'no-store');
    response.status(404).type('text').send('No such file. Reload the page.\n');
    return;
  }
  response.setHeader('Cache-Control', isAsset ? IMMUTABLE : 'no-cache');
  send(request, response, file);
}

function send(request: Request, response: Response, file: StudioFile): void {
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity');
  const body = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : file.body;
  response.setHeader('Content-Type', file.mediaType);
  response.setHeader('Content-Length', body.length);
  response.setHeader('Vary', 'Accept-Encoding');
  if (body !== file.body) response.setHeader('Content-Encoding', String(encoding));
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Returns the files of the build by request path, or null when there is no build. */
async function readBuild(
  directory: string,
  settings: StudioPageSettings,
): Promise<StudioFiles | null> {
  const names = await readdir(directory, { recursive: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const served = names.filter((name) => extname(name) in MEDIA_TYPES);
  if (!served.includes('index.html')) return null;
  const files = await Promise.all(
    served.map(async (name) => {
      const path = `${STUDIO_PATH}/${name.replaceAll('\\', '/')}`;
      return [path, await compressed(name, await readFile(join(directory, name)))] as const;
    }),
  );
  const { auth, openIdConnect, currencyDigits } = settings;
  const text = JSON.stringify({
    auth,
    open_id_connect: openIdConnect,
    currency_digits: Object.fromEntries(currencyDigits),
  });
  return new Map([...files, [SETTINGS_PATH, await compressed(SETTINGS_PATH, Buffer.from(text))]]);
}

async function compressed(name: string, body: Buffer): Promise<StudioFile> {
  return {
    mediaType: MEDIA_TYPES[extname(name)] ?? '',
    body,
    brotli: await promisify(brotliCompress)(body),
    gzip: await promisify(gzip)(body),
  };
}
