/** Pages of objects, by the prefix of their id. */
const PAGES: Readonly<Record<string, string>> = {
  cus: '/customers',
};

/** Returns the page of the object with this id, or null when it has none. */
export function pageOfId(id: string): string | null {
  const [, prefix] = /^([a-z]+)_[0-9a-z]{26}$/.exec(id.trim()) ?? [];
  const page = prefix === undefined ? undefined : PAGES[prefix];
  return page === undefined ? null : `${page}/${id.trim()}`;
}
