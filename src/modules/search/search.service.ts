import { Injectable } from '@nestjs/common';
import { type GrantedScope, hiddenResources } from '../../core/access';
import {
  readQuery,
  SEARCH_TYPES,
  searchedTypes,
  type SearchResult,
  type SearchType,
} from './domain/search-type';
import { SearchRepository } from './search.repository';

@Injectable()
export class SearchService {
  constructor(private readonly repository: SearchRepository) {}

  /**
   * Returns the best matches among the objects that the scopes allow to read. Searches for the words of the text in
   * names, e-mail addresses, numbers, codes, keys and external ids. A text such as `inv_01h4` can be the beginning of
   * an id. In this case, objects with exactly this text as a name, code or external id come first, then objects whose
   * id begins with the text.
   * @param types types to search; null for all types
   */
  async search(
    text: string,
    types: readonly SearchType[] | null,
    scopes: ReadonlySet<GrantedScope>,
    limit: number,
  ): Promise<readonly SearchResult[]> {
    const query = readQuery(text);
    const searched = searchedTypes(types, scopes);
    if (query.kind === 'nothing') return [];
    const namesCustomers = scopes.has(SEARCH_TYPES.customer.scope);
    const withParts = (parts: readonly string[]): Promise<readonly SearchResult[]> =>
      this.repository.byWords(searched, { ...query, parts }, namesCustomers, limit);
    if (query.kind === 'words' || !searched.includes(query.type)) return withParts(query.parts);
    const exact = await withParts([]);
    const shown = { namesCustomers, hidden: hiddenResources(scopes) };
    const byId = await this.repository.byId(query.type, query.text, shown, limit);
    const first = distinct([...exact, ...byId]);
    const others = first.length < limit ? await withParts(query.parts) : [];
    return distinct([...first, ...others]).slice(0, limit);
  }
}

/** Returns one result per object, at the position of the object's first result. */
function distinct(results: readonly SearchResult[]): readonly SearchResult[] {
  const byId = new Map(results.map((result) => [result.id, result]));
  return [...byId.values()];
}
