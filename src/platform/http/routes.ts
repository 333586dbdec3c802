import type { Request } from 'express';

/** What is used of a layer of Express 5's router. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** The methods some route at this path answers to: empty when the path is unknown. */
export function methodsAnswering(request: Request): readonly string[] {
  const layers = (request.app.router as unknown as { readonly stack: readonly Layer[] }).stack;
  const methods = new Set<string>();
  for (const layer of layers) {
    if (layer.route === undefined || layer.route.methods['_all'] === true) continue;
    if (!layer.match(request.path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
