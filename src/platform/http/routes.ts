import type { Express, Request } from 'express';

/** What is used of a layer of Express 5's router. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

/** What is used of the router itself. */
interface Router {
  readonly stack: readonly Layer[];
  strict: boolean;
  caseSensitive: boolean;
  route(path: string): unknown;
}

/**
 * One path for each resource: another spelling of it would be another request to the idempotency keys. Set on the router
 * itself, which exists since Nest made its adapter: the settings of the application are read only when it is made.
 *
 * A request is asked for the text before the first parameter of a route before it is matched with its pattern. Express
 * matches it with that of every route that was made earlier, of which there are a hundred: some 4 % of what a read costs.
 */
export function routeExactly(app: Express): void {
  const router = routerOf(app);
  router.strict = true;
  router.caseSensitive = true;
  const makeRoute = router.route.bind(router);
  router.route = (path) => {
    const route = makeRoute(path);
    const layer = router.stack.at(-1);
    if (layer !== undefined) compareTextFirst(layer, path);
    return route;
  };
}

function compareTextFirst(layer: Layer, path: string): void {
  const text = /^[\w/.-]*/.exec(path)?.[0] ?? '';
  const match = layer.match.bind(layer);
  layer.match = (asked) => asked.startsWith(text) && match(asked);
}

function routerOf(app: Express): Router {
  return app.router as unknown as Router;
}

/** The methods some route at this path answers to: empty when the path is unknown. */
export function methodsAnswering(request: Request): readonly string[] {
  const methods = new Set<string>();
  for (const layer of routerOf(request.app as Express).stack) {
    if (layer.route === undefined || layer.route.methods['_all'] === true) continue;
    if (layer.match(request.path) === false) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
