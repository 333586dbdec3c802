import type { Express, Request } from 'express';

/** Fields of a layer of Express 5's router. A layer is a route or a middleware function. */
interface Layer {
  readonly name: string;
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

interface Router {
  stack: readonly Layer[];
  strict: boolean;
  caseSensitive: boolean;
  route(path: string | RegExp): unknown;
}

/**
 * Makes paths case-sensitive, and refuses a slash at their end. Otherwise the same request with another spelling of the
 * path would not match its idempotency key. Changes the router itself, because Nest has already created it, and the
 * settings of an Express application apply only to routers that are created later.
 */
export function routeExactly(app: Express): void {
  const router = routerOf(app);
  router.strict = true;
  router.caseSensitive = true;
  const route = router.route.bind(router);
  router.route = (path) => {
    const added = route(path);
    const layer = router.stack.at(-1);
    if (layer !== undefined && typeof path === 'string') matchOnlyFrom(layer, literalStartOf(path));
    return added;
  };
}

/**
 * Makes a layer of the router compare the start of the path before it runs its regular expression. The router tries up
 * to 200 routes one after the other, and the regular expressions of 120 routes take 17 µs.
 */
function matchOnlyFrom(layer: Layer, start: string): void {
  const match = layer.match.bind(layer);
  layer.match = (path) => path.startsWith(start) && match(path);
}

/** Returns the part of a route's path before its first parameter, wildcard, group or escape. */
function literalStartOf(path: string): string {
  return /^[^:*{\\]*/.exec(path)?.[0] ?? '';
}

function routerOf(app: Express): Router {
  return app.router as unknown as Router;
}

/** Returns the methods supported at this path; empty if the path is unknown. */
export function methodsAnswering(request: Request): readonly string[] {
  const methods = new Set<string>();
  for (const layer of routerOf(request.app as Express).stack) {
    if (layer.route === undefined || layer.route.methods['_all'] === true) continue;
    if (!layer.match(request.path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** Names of the body parsers that Nest adds by default. */
const PARSERS: ReadonlySet<string> = new Set(['jsonParser', 'urlencodedParser']);

/** Removes the body parsers of Nest, because they would read bodies before the limits of this service apply. */
export function removeParsers(app: Express): void {
  const router = routerOf(app);
  router.stack = router.stack.filter(({ name }) => !PARSERS.has(name));
}
