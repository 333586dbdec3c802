import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { InstantRange } from '../../core/time';
import { invalidCursor } from '../errors';
import type { Database } from './database';
import type { Page, PageRequest } from './keyset';
import type { Reports } from './reports';

/** Order of a list: by a column, and by id among equal values. Rows without a value are left out. */
export interface ListOrder {
  readonly column: string;
  readonly isAscending: boolean;
}

/** Returns the order of a sort parameter: a column, descending after a minus sign. Null for none. */
export function orderOf(sort: string | null): ListOrder | null {
  if (sort === null) return null;
  return { column: sort.replace(/^-/, ''), isAscending: !sort.startsWith('-') };
}

const NEWEST_FIRST: ListOrder = { column: 'id', isAscending: false };

/** Builds the statements of a list with filters: its pages, and sums over all its rows. */
export class ListQuery {
  private readonly parameters: unknown[] = [];
  private readonly conditions: string[] = [];
  /** Column of which several values are wanted. Its pages are merged from one page for each value. */
  private merged: { readonly column: string; readonly values: readonly string[] } | null = null;
  private order: ListOrder | null = null;

  constructor(private readonly table: string) {}

  /** Adds a condition. `$` stands for the value. A null value adds nothing. */
  where(condition: string, value: unknown): this {
    if (value === null) return this;
    const place = this.bind(value);
    this.conditions.push(condition.replaceAll('$', () => place));
    return this;
  }

  /** Adds a condition without a value, if it is wanted. */
  when(isWanted: boolean, condition: string): this {
    if (isWanted) this.conditions.push(condition);
    return this;
  }

  /** Filters by one or several values of a column; null for all. Call it for one column of a list. */
  oneOf(column: string, values: readonly string[] | null): this {
    if (values === null) return this;
    if (values.length === 1) return this.where(`${column} = $`, values[0]);
    this.merged = { column, values };
    return this;
  }

  /** Filters by a range of instants, and then orders by them, newest first, unless an order is given. */
  between(column: string, { from, to }: InstantRange): this {
    if (from === null && to === null) return this;
    this.order ??= { column, isAscending: false };
    return this.where(`${column} >= $`, from).where(`${column} < $`, to);
  }

  /** Orders by a column instead; null leaves the order as it is. */
  orderBy(order: ListOrder | null): this {
    this.order = order ?? this.order;
    return this;
  }

  /**
   * Returns a page of entities.
   * @throws {ProblemError} `invalid_cursor` when the last row of the previous page no longer exists and the order needs it
   */
  async page<Entity extends ObjectLiteral & { readonly id: string }>(
    database: Database,
    entity: EntityTarget<Entity>,
    { limit, after }: PageRequest,
  ): Promise<Page<Entity>> {
    const order = this.order ?? NEWEST_FIRST;
    if (order.column !== 'id') this.conditions.push(`${order.column} IS NOT NULL`);
    if (after !== null) await this.continueAfter(database, order, after);
    const found = await database.select(entity, this.tailOf(order, limit + 1), this.parameters);
    const items = found.slice(0, limit);
    return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /**
   * Counts the rows by currency and sums amounts of each, in minor units as text. Reads the whole table if there is no filter.
   * @throws {ProblemError} `too_many_reports`
   */
  async summarize(
    reports: Reports,
    amounts: Readonly<Record<string, string>>,
  ): Promise<readonly ListSummary[]> {
    const sums = Object.entries(amounts).map(
      ([name, sql]) => `'${name}', coalesce(sum(${sql}), 0)::text`,
    );
    if (this.merged !== null) {
      const { column, values } = this.merged;
      this.conditions.push(`${column} = ANY (${this.bind(values)})`);
    }
    return reports.query<ListSummary>(
      'summary',
      `SELECT currency, count(*)::integer AS count, json_build_object(${sums.join(', ')}) AS sums
       FROM ${this.table} ${this.whole()} GROUP BY currency ORDER BY currency NULLS LAST`,
      this.parameters,
    );
  }

  private async continueAfter(database: Database, order: ListOrder, id: string): Promise<void> {
    const comparison = order.isAscending ? '>' : '<';
    if (order.column === 'id') {
      this.where(`id ${comparison} $`, id);
      return;
    }
    const sql = `SELECT ${order.column}::text AS value, pg_typeof(${order.column})::text AS type FROM ${this.table} WHERE id = $1`;
    const [row] = await database.query<{ value: string | null; type: string }>(sql, [id]);
    if (row === undefined || row.value === null) throw invalidCursor();
    const place = `(${this.bind(row.value)}::${row.type}, ${this.bind(id)}::varchar)`;
    this.conditions.push(`(${order.column}, id) ${comparison} ${place}`);
  }

  /** Returns the SQL after FROM and the table. */
  private tailOf({ column, isAscending }: ListOrder, most: number): string {
    const direction = isAscending ? 'ASC' : 'DESC';
    const order = `ORDER BY ${column === 'id' ? '' : `${column} ${direction}, `}id ${direction}`;
    const limit = `LIMIT ${this.bind(most)}`;
    if (this.merged === null) return `${this.whole()} ${order} ${limit}`;
    const values = this.bind(this.merged.values);
    this.conditions.push(`${this.merged.column} = wanted.value`);
    const columns = column === 'id' ? 'id' : `id, ${column}`;
    return `WHERE id = ANY (ARRAY (
      SELECT id FROM unnest(${values}::text[]) AS wanted (value) CROSS JOIN LATERAL (
        SELECT ${columns} FROM ${this.table} ${this.whole()} ${order} ${limit}) AS matching
      ${order} ${limit})) ${order}`;
  }

  private whole(): string {
    return this.conditions.length === 0 ? '' : `WHERE ${this.conditions.join(' AND ')}`;
  }

  private bind(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }
}

/** Rows of one currency, with the sums of their amounts. The currency is null for rows that have none. */
export interface ListSummary {
  readonly currency: string | null;
  readonly count: number;
  readonly sums: Readonly<Record<string, string>>;
}
