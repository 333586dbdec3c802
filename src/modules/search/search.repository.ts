import { Injectable } from '@nestjs/common';
import { containsPart, Database, searchedText } from '../../platform/database';
import type { SearchResult, SearchText, SearchType } from './domain/search-type';

interface SearchSource {
  readonly from: string;
  readonly where?: string;
  readonly title: string;
  readonly detail?: string;
  readonly customerId?: string;
  /** SQL expression for the searched text. Must be the expression of the trigram index of the table. */
  readonly text?: string;
  /** Columns, such as name, number or e-mail address, that are compared with the whole query to rank a match. */
  readonly names?: readonly string[];
  /** SQL conditions that find objects with a value that equals the whole search text. Each condition uses an index. */
  readonly exact?: readonly string[];
}

/**
 * Maximum number of objects that are read for one condition before they are ranked. A query that matches more objects
 * is too unspecific to rank well.
 */
const MAX_RANKED = 1_000;

/** Parameter with the whole search text, with single plain spaces. */
const TEXT = '$1::text';
/** Parameter with the search text as typed; NULL if it equals {@link TEXT}. */
const TYPED = '$2::text';

/**
 * Returns a condition that compares the column with the query as given, in lower case and in upper case. The index is
 * case-sensitive.
 */
const isQuery = (column: string): string =>
  `${column} IN (${[TEXT, TYPED].flatMap((text) => [text, `lower(${text})`, `upper(${text})`]).join(', ')})`;

const CUSTOMER_NAME = 'customer.name';

/** Returns the parts of a {@link SearchSource} that are the same for all tables with a `customer_id`. */
const ofCustomer = (table: string) => ({
  from: `${table} AS one LEFT JOIN customer ON customer.id = one.customer_id`,
  detail: CUSTOMER_NAME,
  customerId: 'one.customer_id',
});

const CATALOG_OBJECT = {
  where: 'one.archived_at IS NULL',
  title: 'one.name',
  detail: 'one.code',
  text: searchedText('one.code', 'one.name'),
  names: ['one.code', 'one.name'],
  exact: [isQuery('one.code')],
};

const SOURCES: Readonly<Record<SearchType, SearchSource>> = {
  customer: {
    from: 'customer AS one',
    where: 'one.deleted_at IS NULL',
    title: 'one.name',
    detail: 'coalesce(one.email, one.external_id)',
    customerId: 'one.id',
    text: searchedText('one.name', "coalesce(one.email, '')", "coalesce(one.external_id, '')"),
    names: ['one.name', 'one.email', 'one.external_id'],
    exact: [
      `lower(one.name) = lower(${TYPED})`,
      `lower(one.name) = lower(${TEXT})`,
      isQuery('one.email'),
      isQuery('one.external_id'),
    ],
  },
  invoice: {
    ...ofCustomer('invoice'),
    title: 'coalesce(one.number, one.id)',
    text: searchedText('one.number'),
    names: ['one.number'],
    exact: [isQuery('one.number')],
  },
  plan: { from: 'plan AS one', ...CATALOG_OBJECT },
  addon: { from: 'addon AS one', ...CATALOG_OBJECT },
  coupon: {
    from: 'coupon AS one',
    title: 'one.code',
    detail: 'one.name',
    text: searchedText('one.code', "coalesce(one.name, '')"),
    names: ['one.code', 'one.name'],
    exact: [isQuery('one.code')],
  },
  meter: {
    from: 'meter AS one',
    where: 'one.archived_at IS NULL',
    title: 'one.name',
    detail: 'one.key',
    text: searchedText('one.key', 'one.name'),
    names: ['one.key', 'one.name'],
    exact: [isQuery('one.key')],
  },
  subscription: { ...ofCustomer('subscription'), title: 'one.id' },
  payment: { ...ofCustomer('payment'), title: 'one.id' },
  refund: { ...ofCustomer('refund'), title: 'one.id' },
  credit_note: {
    ...ofCustomer('credit_note'),
    title: 'one.number',
    names: ['one.number'],
    exact: [isQuery('one.number')],
  },
  entitlement: { from: 'entitlement AS one', title: 'one.name', detail: 'one.key' },
  tax_rate: { from: 'tax_rate AS one', where: 'one.archived_at IS NULL', title: 'one.name' },
  event: { from: 'event AS one', title: 'one.type' },
  webhook_endpoint: {
    from: 'webhook_endpoint AS one',
    where: 'one.deleted_at IS NULL',
    title: 'one.url',
  },
  webhook_delivery: { from: 'webhook_delivery AS one', title: 'one.event_type' },
  test_clock: { from: 'test_clock AS one', where: 'one.deleted_at IS NULL', title: 'one.name' },
  ledger_transaction: {
    from: 'ledger_transaction AS one',
    title: 'one.kind',
    customerId: 'one.customer_id',
  },
};

function columnsOf(type: SearchType, namesCustomers: boolean): string {
  const { title, detail = 'NULL', customerId } = SOURCES[type];
  const shown = detail === CUSTOMER_NAME && !namesCustomers ? 'NULL' : detail;
  return `'${type}' AS type, one.id::text AS id, ${title}::text AS title, ${shown}::text AS detail,
    ${customerId ?? 'NULL'}::text AS "customerId"`;
}

/** Reads tables of other modules, and writes nothing. */
@Injectable()
export class SearchRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the newest objects whose id begins with the text.
   * @param hidden in a search for events: resources, such as `api_key`, whose events are left out
   */
  byId(
    type: SearchType,
    start: string,
    {
      namesCustomers,
      hidden,
    }: { readonly namesCustomers: boolean; readonly hidden: readonly string[] },
    limit: number,
  ): Promise<readonly SearchResult[]> {
    const { from } = SOURCES[type];
    const isOfEvents = type === 'event';
    const where = isOfEvents
      ? "split_part(one.type, '.', 1) <> ALL ($3::text[])"
      : SOURCES[type].where;
    return this.database.query<SearchResult>(
      `SELECT ${columnsOf(type, namesCustomers)} FROM ${from}
       WHERE one.id >= $1 AND one.id < $1 || '~' ${where === undefined ? '' : `AND ${where}`}
       ORDER BY one.id DESC LIMIT $2`,
      [start, limit, ...(isOfEvents ? [hidden] : [])],
    );
  }

  /**
   * Returns objects that a condition of {@link SearchSource.exact} finds, and objects whose text contains every part of
   * the query. Ranks them by how their {@link SearchSource.names}, such as name, code and number, match:
   * 1. A name equals the query as typed.
   * 2. A name equals the text of the query.
   * 3. A name begins with the query as typed, or with its text.
   * 4. All other objects. Equal ranks are sorted by title.
   * @param parts parts of the query; empty: only the exact conditions are searched
   * @param namesCustomers true if the caller may read the names of customers
   */
  async byWords(
    types: readonly SearchType[],
    { text, typed, parts }: SearchText,
    namesCustomers: boolean,
    limit: number,
  ): Promise<readonly SearchResult[]> {
    // PostgreSQL refuses a statement with a parameter that no condition uses.
    const usedParts = types.some((type) => SOURCES[type].text !== undefined) ? parts : [];
    const sources = types.flatMap((type) => {
      const { text: searched, from, where = 'true', names = [], exact = [] } = SOURCES[type];
      const conditions = [...exact];
      if (searched !== undefined && parts.length > 0) {
        conditions.push(
          parts.map((_, index) => containsPart(searched, `$${index + 4}`)).join(' AND '),
        );
      }
      const columns = `${columnsOf(type, namesCustomers)}, ${rankOf(names)} AS rank`;
      return conditions.map(
        (one) => `(SELECT ${columns} FROM ${from} WHERE ${one} AND ${where} LIMIT ${MAX_RANKED})`,
      );
    });
    if (sources.length === 0) return [];
    return this.database.query<SearchResult>(
      `SELECT type, id, title, detail, "customerId" FROM (${sources.join(' UNION ')}) AS found
       ORDER BY rank, lower(title), id LIMIT $3`,
      [text, typed, limit, ...usedParts],
    );
  }
}

function rankOf(columns: readonly string[]): string {
  const some = (condition: (column: string) => string): string =>
    columns.map((column) => condition(`lower(${column})`)).join(' OR ');
  const equals = (text: string) => some((column) => `${column} = lower(${text})`);
  const begins = (text: string) => some((column) => `starts_with(${column}, lower(${text}))`);
  return `CASE WHEN ${equals(TYPED)} THEN 0 WHEN ${equals(TEXT)} THEN 1
    WHEN ${begins(TYPED)} OR ${begins(TEXT)} THEN 2 ELSE 3 END`;
}
