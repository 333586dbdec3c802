/**
 * Replaces the references in a part of the document with their targets. Used instead of the resolver of Swagger UI.
 * That resolver takes seconds, because it reads the whole document again for each opened operation. The browser gets
 * this function as text, so the function uses nothing outside of itself. All references of the document are local.
 * @param document the OpenAPI document
 * @param path names of the properties that lead to the part
 */
export function resolveSubtree(
  document: object,
  path: readonly string[],
): Promise<{ readonly spec: unknown; readonly errors: readonly [] }> {
  const at = (keys: readonly string[]): unknown =>
    keys.reduce<unknown>(
      (node, key) => (node as Record<string, unknown> | undefined)?.[key],
      document,
    );
  const keysOf = (reference: string): string[] =>
    reference
      .slice('#/'.length)
      .split('/')
      .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
  const resolve = (node: unknown, within: readonly string[]): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map((item) => resolve(item, within));
    const { $ref: reference, ...others } = node as { readonly $ref?: unknown };
    if (typeof reference === 'string' && reference.startsWith('#/')) {
      // If a schema contains itself, the inner one stays a reference.
      if (within.includes(reference)) return node;
      const target = resolve(at(keysOf(reference)), [...within, reference]);
      return { ...(target as object), ...others, $$ref: reference };
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, resolve(value, within)]),
    );
  };
  return Promise.resolve({ spec: resolve(at(path), []), errors: [] });
}
