/** Decoded form parameters, before they are checked. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue };

/** Decodes `a[b]=c` and `a[0]=c` (or `a[]=c`) as Stripe does. An object whose keys are all numeric or empty becomes an array. */
export function decodeForm(encoded: string): Record<string, FormValue> {
  const root: Record<string, FormValue> = {};
  const pairs = new URLSearchParams(encoded);
  // Sorts the parameters, because their order has no meaning when requests with the same idempotency key are compared.
  pairs.sort();
  for (const [name, value] of pairs) {
    const path = [...name.matchAll(/^[^[]+|\[([^\]]*)\]/g)].map((match) => match[1] ?? match[0]);
    place(root, path, value);
  }
  return Object.fromEntries(Object.entries(root).map(([name, value]) => [name, withArrays(value)]));
}

function place(into: Record<string, FormValue>, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path;
  const key = name === '' ? String(Object.keys(into).length) : name;
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  const existing = into[key];
  const child =
    typeof existing === 'object' && !Array.isArray(existing)
      ? existing
      : (Object.create(null) as Record<string, FormValue>);
  into[key] = child;
  place(child, rest, value);
}

function withArrays(value: FormValue): FormValue {
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withArrays(item)] as const);
  return entries.every(([name]) => /^\d+$/.test(name))
    ? entries.map(([, item]) => item)
    : Object.fromEntries(entries);
}
