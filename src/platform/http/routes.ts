import type { Express, Request } from 'express';

/** What is used of a layer of Express 5's router. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** What is used of the router itself. */
interface Router {
  readonly stack: readonly Layer[];
  strict: boolean;
  caseSensitive: boolean;
}

/**
 * One path for each resource: another spelling of it would be another request to the idempotency keys. Set on the router
 * itself, which exists since Nest made its adapter: the settings of the application are read only when it is made.
 */
export function routeExactly(app: Express): void {
  const router = routerOf(app);
  router.strict = true;
  router.caseSensitive = true;
}

function routerOf(app: Express): Router {
  return app.router as unknown as Router;
}

/** The methods some route at this path answers to: empty when the path is unknown. */
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
