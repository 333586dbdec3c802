import type { Scope } from '../../../core/access';
import { searchedParts } from '../../../core/search-text';

/** Types of objects that a search finds, each with the prefix of its ids and the scope that is needed to read it. */
export const SEARCH_TYPES = {
  customer: { prefix: 'cus', scope: 'customers:read' },
  invoice: { prefix: 'inv', scope: 'invoices:read' },
  subscription: { prefix: 'sub', scope: 'subscriptions:read' },
  payment: { prefix: 'pay', scope: 'payments:read' },
  refund: { prefix: 'ref', scope: 'refunds:read' },
  credit_note: { prefix: 'cn', scope: 'invoices:read' },
  plan: { prefix: 'plan', scope: 'catalog:read' },
  addon: { prefix: 'addon', scope: 'catalog:read' },
  coupon: { prefix: 'coup', scope: 'coupons:read' },
  meter: { prefix: 'meter', scope: 'catalog:read' },
  entitlement: { prefix: 'ent', scope: 'entitlements:read' },
  tax_rate: { prefix: 'txr', scope: 'catalog:read' },
  event: { prefix: 'evt', scope: 'events:read' },
  webhook_endpoint: { prefix: 'whe', scope: 'webhooks:read' },
  webhook_delivery: { prefix: 'whd', scope: 'webhooks:read' },
  test_clock: { prefix: 'clock', scope: 'test-clocks:read' },
  ledger_transaction: { prefix: 'ltx', scope: 'ledger:read' },
} as const satisfies Readonly<Record<string, { readonly prefix: string; readonly scope: Scope }>>;

export type SearchType = keyof typeof SEARCH_TYPES;

export const SEARCH_TYPE_NAMES = Object.keys(SEARCH_TYPES) as readonly SearchType[];

/** Minimum length of a query. A shorter query finds nothing, because it would match most objects. */
export const MIN_QUERY_LENGTH = 2;

/** Beginning of an id: the prefix of a type, `_`, and up to 26 characters of base 32, of which the first is 0 to 7. */
const ID_START = /^([a-z]+)_([0-7][0-9a-hjkmnp-tv-z]{0,25})?$/;

export interface SearchText {
  /** Query with single plain spaces between words, and no spaces around it. */
  readonly text: string;
  /** Query as typed; null if it equals `text`. Needed because a stored name can contain other spaces. */
  readonly typed: string | null;
  /** Words of the text, as {@link searchedParts} returns them. */
  readonly parts: readonly string[];
}

export type SearchQuery =
  | { readonly kind: 'nothing' }
  | ({ readonly kind: 'id'; readonly type: SearchType } & SearchText)
  | ({ readonly kind: 'words' } & SearchText);

/**
 * Parses a query. Returns `nothing` if the query is too short, or has no letter, number or symbol such as an emoji.
 * Punctuation, and signs such as `$` and `+`, do not count as symbols. Returns `id` if the query can be the beginning
 * of an id, otherwise `words`.
 */
export function readQuery(given: string): SearchQuery {
  const text = given.trim().replaceAll(/\s+/gu, ' ');
  if (text.length < MIN_QUERY_LENGTH || !/[\p{L}\p{N}\p{So}]/u.test(text))
    return { kind: 'nothing' };
  const prefix = ID_START.exec(text)?.[1];
  const type = SEARCH_TYPE_NAMES.find((name) => SEARCH_TYPES[name].prefix === prefix);
  const typed = given === text ? null : given;
  const words = { text, typed, parts: searchedParts(text) };
  return type === undefined ? { kind: 'words', ...words } : { kind: 'id', type, ...words };
}

/** Returns the requested types (`asked`; null: all types) that the caller may read. */
export function searchedTypes(
  asked: readonly SearchType[] | null,
  scopes: ReadonlySet<string>,
): readonly SearchType[] {
  return (asked ?? SEARCH_TYPE_NAMES).filter((type) => scopes.has(SEARCH_TYPES[type].scope));
}

export interface SearchResult {
  readonly type: SearchType;
  readonly id: string;
  /**
   * Name, number, code, URL, type of an event or kind of a ledger transaction. The id if the object has no such value.
   */
  readonly title: string;
  /**
   * E-mail address, name or other text that distinguishes objects with the same title; null: none, or the caller may
   * not read it.
   */
  readonly detail: string | null;
  readonly customerId: string | null;
}
