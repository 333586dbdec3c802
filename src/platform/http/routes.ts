import type { Express, Request } from 'express';

/** Used part of a layer of Express 5's router. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Used part of the router. */
interface Router {
  readonly stack: readonly Layer[];
  strict: boolean;
  caseSensitive: boolean;
}

/**
 * Makes paths strict and case-sensitive: another spelling would be another request for idempotency keys. Changes the
 * router itself, because Nest has created it already, and application settings apply only at creation.
 */
export function routeExactly(app: Express): void {
  const router = routerOf(app);
  router.strict = true;
  router.caseSensitive = true;
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
