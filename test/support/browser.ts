import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { until } from './until';

const ROOT = join(__dirname, '../..');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Time limit of browser operations. A busy machine takes many times as long as a quiet one. */
const TIMEOUT_MS = 45_000;

const KNOWN_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Returns the path of a Chromium. A missing browser fails the suite instead of skipping it. */
function chromiumPath(): string {
  const given = process.env['CHROMIUM_PATH'];
  const found = given ?? KNOWN_PATHS.find((path) => existsSync(path));
  if (found !== undefined && existsSync(found)) return found;
  throw new Error(
    `No Chromium at ${given ?? KNOWN_PATHS.join(' or ')}. Install one, or set CHROMIUM_PATH to its file.`,
  );
}

export function launchChromium(): Promise<Browser> {
  // The sandbox of Chromium needs rights that containers often lack; the pages are our own.
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
}

/** Exceptions that a page threw, and its violations of the content security policy. */
export interface PageFaults {
  readonly found: string[];
}

/**
 * Number of frames without a pending request after which a page is quiet: it has rendered every answer and sends no
 * further request.
 */
const QUIET_FRAMES = 4;

const WATCH_POLICY = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy breach: ' + event.effectiveDirective + ' ' + event.blockedURI));`;

/** Opens a page, and records its exceptions and violations of the content security policy. */
export async function openPage(
  browser: Browser,
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly faults: PageFaults }> {
  const context = await browser.newContext({
    viewport: { width: 1360, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-US',
  });
  const page = await context.newPage();
  watchRequests(page);
  page.setDefaultTimeout(TIMEOUT_MS);
  const found: string[] = [];
  page.on('pageerror', ({ message }) => found.push(message));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && text.includes('policy')) found.push(text);
  });
  await page.addInitScript(WATCH_POLICY);
  return { context, page, faults: { found } };
}

/** Requests that wait for an answer, by page. */
const pendingRequests = new WeakMap<Page, Set<Request>>();

function watchRequests(page: Page): void {
  const pending = new Set<Request>();
  pendingRequests.set(page, pending);
  page.on('request', (request) => pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
}

/** Waits until a page from `openPage` has rendered all answers and has no pending request. */
export async function untilQuiet(page: Page): Promise<void> {
  const pending = pendingRequests.get(page);
  let quietFrames = 0;
  const isQuiet = async (): Promise<boolean> => {
    await page.evaluate('new Promise(requestAnimationFrame)');
    quietFrames = pending?.size === 0 ? quietFrames + 1 : 0;
    return quietFrames === QUIET_FRAMES;
  };
  await until('The page has all answers', isQuiet, TIMEOUT_MS);
}

/**
 * Lets requests to a path reach the service, but hides the answers from the page. Throws if an answer is not a success.
 * @param instead answer that the page gets instead; default: none
 */
export async function loseAnswers(
  page: Page,
  path: string,
  instead?: { readonly status: number; readonly body: string },
): Promise<void> {
  await page.route(path, async (route) => {
    // The browser adds this header, which the service requires, only to requests that it sends itself.
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
    const response = await route.fetch({ headers });
    if (!response.ok()) throw new Error(`${path} answered ${response.status()}`);
    await (instead === undefined ? route.abort() : route.fulfill(instead));
  });
}

/** Returns the answer of the service to a refused request, for `route.fulfill`. */
export const refusal = (
  status: number,
  code: string,
  detail = 'Try again later.',
): { readonly status: number; readonly contentType: string; readonly body: string } => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({
    type: `urn:billing-engine:problem:${code}`,
    status,
    code,
    detail,
    errors: [],
  }),
});

/** Returns the answer of a gateway that has not passed a request on, for `route.fulfill`. */
export const gatewayError = (
  status: number,
): { readonly status: number; readonly contentType: string; readonly body: string } => ({
  status,
  contentType: 'application/json',
  body: '{"message":"no Route matched with those values"}',
});

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Returns the violations of WCAG 2.2 AA that axe finds on the page as it is. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(`if (typeof axe === 'undefined') { ${AXE} }`);
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })`,
  );
  return result.violations.map(
    ({ id, nodes: [first] }) => `${id}: ${first?.html ?? ''} ${first?.failureSummary ?? ''}`,
  );
}

/** Returns the names of the files of the console that the page has loaded. */
export async function loadedFiles(page: Page): Promise<readonly string[]> {
  const urls = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name)`,
  );
  return urls
    .map((url) => new URL(url).pathname)
    .filter((path) => path.startsWith('/studio/assets/'))
    .map((path) => join(ROOT, 'dist', path));
}
