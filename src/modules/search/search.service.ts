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
   * Returns the best matches among the objects that the scopes allow to read. If the text can be the beginning of an
   * id, such as `inv_01h4`, finds first the objects that have exactly this text as a name, code, external id or the
   * like, then the objects whose id begins with it. Otherwise searches for the words in names, e-mail addresses,
   * numbers, codes, keys and external ids.
   * @param types types to search; null for all
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
    if (query.kind === 'words')
      return this.repository.byWords(searched, query, namesCustomers, limit);
    const exactText = { text: query.start, parts: [] };
    const exact = await this.repository.byWords(searched, exactText, namesCustomers, limit);
    if (!searched.includes(query.type)) return exact;
    const hidden = hiddenResources(scopes);
    const shown = { namesCustomers, hidden };
    const byId = await this.repository.byId(query.type, query.start, shown, limit);
    const named = new Set(exact.map(({ id }) => id));
    return [...exact, ...byId.filter(({ id }) => !named.has(id))].slice(0, limit);
  }
}
