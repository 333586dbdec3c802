import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { AmountRange } from '../../core/money';
import type { InstantRange } from '../../core/time';
import { invalidCursor } from '../errors';
import type { Database } from './database';
import { idTime } from './id-time';
import { type Page, pageFrom, type PageRequest } from './keyset';
import { cursorAt, type Position, positionOf } from './list-cursor';
import { isSameOrder, type ListOrder, NEWEST_FIRST } from './list-order';
import { isDataException } from './postgres-errors';
import type { Reports } from './reports';

/**
 * Column of another table that contains ids of rows of the list. Example: `customer_id` of invoices, for a list of
 * customers.
 */
interface ReferringColumn {
  readonly table: string;
  readonly column: string;
  /** SQL condition on the rows of `table`. It is also the condition of the partial index on `column`. */
  readonly condition: string;
}

interface SortedRow {
  /** Value by which the row is sorted, as text. Absent if the list is sorted by id. */
  readonly sortValue?: string | null;
}

/** Builds the SQL of a list with filters: one statement for a page, and one for sums over all rows of the list. */
export class ListQuery {
  private readonly parameters: unknown[] = [];
  private readonly conditions: string[] = [];
  private multipleValues: { readonly column: string; readonly values: readonly string[] } | null =
    null;
  private referring: ReferringColumn | null = null;
  private order: ListOrder | null = null;
  /** True after a filter on indexed columns was added. */
  private isByIndex = false;

  /**
   * @param indexEnd last expression of the indexes on filtered or sorted columns: `id`, or `time` for {@link idTime}
   * @param usualOrder order of the pages if neither a filter nor the caller sets another one
   */
  constructor(
    private readonly table: string,
    private readonly indexEnd: 'id' | 'time' = 'id',
    private readonly usualOrder = NEWEST_FIRST,
  ) {}

  /** Adds a condition on indexed columns, in which `$` stands for the value. A null value adds no condition. */
  where(condition: string, value: unknown): this {
    if (value !== null) this.isByIndex = true;
    return this.whereUnindexed(condition, value);
  }

  /** Adds a condition like {@link where}, but on columns without an index. */
  whereUnindexed(condition: string, value: unknown): this {
    if (value === null) return this;
    const place = this.bind(value);
    this.conditions.push(condition.replaceAll('$', () => place));
    return this;
  }

  whereIf(isWanted: boolean, condition: string): this {
    if (isWanted) this.conditions.push(condition);
    return this;
  }

  /**
   * Keeps rows in which the column has one of the values. Null adds no filter; an empty list matches no rows. Call this
   * method for one column at most. The index has the order `usualOrder` only among rows with the same value. In that
   * order, the statement therefore reads one page per value and merges these pages.
   */
  whereOneOf(column: string, values: readonly string[] | null): this {
    if (values === null) return this;
    if (values.length === 0) return this.whereIf(true, 'false');
    if (values.length === 1) return this.where(`${column} = $`, values[0]);
    this.multipleValues = { column, values };
    this.isByIndex = true;
    return this;
  }

  /**
   * Keeps rows whose ids are in a column of another table, such as customers that have an open invoice. In the order
   * `usualOrder`, a page reads these ids one by one from the index of that column. This is fast even if only few or
   * only old rows match.
   * @param first first column of that index, before the column of ids, and the value to look for in it; null: any value
   * @param options.isSelective true if another filter leaves only few rows; an ordinary condition then lets the
   *   database read these rows first
   */
  whereReferredBy(
    { condition, ...column }: ReferringColumn,
    first: { readonly column: string; readonly value: string | null },
    { isSelective }: { readonly isSelective: boolean },
  ): this {
    const value = first.value === null ? '' : ` AND ${first.column} = ${this.bind(first.value)}`;
    const referring = { ...column, condition: `${condition}${value}` };
    if (isSelective) return this.whereIf(true, isReferredBy(referring));
    this.referring = referring;
    return this;
  }

  /** Keeps rows in a range of instants; `to` is exclusive. Sorts the newest first, unless another order is set. */
  whereBetween(column: string, { from, to }: InstantRange): this {
    if (from === null && to === null) return this;
    this.order ??= { column, isAscending: false };
    return this.where(`${column} >= $`, from).where(`${column} < $`, to);
  }

  /** Keeps rows in a range of amounts; `max` is inclusive. Sorts the largest first, unless another order is set. */
  whereAmountBetween(column: string, { min, max }: AmountRange): this {
    if (min === null && max === null) return this;
    this.order ??= { column, isAscending: false };
    return this.where(`${column} >= $`, min).where(`${column} <= $`, max);
  }

  /** Sets the order of the pages. Null keeps the present order. */
  orderBy(order: ListOrder | null): this {
    this.order = order ?? this.order;
    return this;
  }

  /**
   * Returns a page of entities.
   * @throws {ProblemError} `invalid_cursor` if the cursor was made for another order, or its value is missing or has
   *   the wrong type
   */
  async page<Entity extends ObjectLiteral & { readonly id: string }>(
    database: Database,
    entity: EntityTarget<Entity>,
    { limit, after }: PageRequest,
  ): Promise<Page<Entity>> {
    const order = this.order ?? this.usualOrder;
    const position = after === null ? null : positionOf(after, order);
    if (order.column !== 'id') this.conditions.push(`${order.column} IS NOT NULL`);
    if (position !== null) this.continueAfter(order, position);
    const tail = this.tailOf(order, position?.id ?? null, limit + 1);
    const sortValue = order.column === 'id' ? [] : [`${order.column}::text AS "sortValue"`];
    const found: readonly (Entity & SortedRow)[] = await refuseInvalidCursor(position, () =>
      database.select(entity, tail, this.parameters, sortValue),
    );
    return pageFrom(found, limit, ({ id, sortValue = null }) =>
      cursorAt({ id, value: sortValue }, order),
    );
  }

  /**
   * Returns, for each currency, the number of rows and the sums of their amounts in minor units, as text. Reads the
   * whole table if there is no filter.
   * @param amounts SQL of each amount, by name
   * @throws {ProblemError} `too_many_reports`
   */
  async summarize(
    reports: Reports,
    amounts: Readonly<Record<string, string>>,
  ): Promise<readonly ListSummary[]> {
    const sums = Object.entries(amounts).map(
      ([name, sql]) => `'${name}', coalesce(sum(${sql}), 0)::text`,
    );
    this.addRemainingConditions();
    return reports.query<ListSummary>(
      'summary',
      `SELECT currency, count(*)::integer AS count, json_build_object(${sums.join(', ')}) AS sums
       FROM ${this.table} ${this.whereClause()} GROUP BY currency ORDER BY currency NULLS LAST`,
      this.parameters,
    );
  }

  private continueAfter(order: ListOrder, position: Position): void {
    const comparison = order.isAscending ? '>' : '<';
    const last = `${this.bind(position.id)}::varchar`;
    const end = this.endsWithIdTime(order) ? [idTime(last), last] : [last];
    if (order.column === 'id') {
      this.conditions.push(`(${this.endOf(order).join(', ')}) ${comparison} (${end.join(', ')})`);
      return;
    }
    if (position.value === null) throw invalidCursor();
    // Needs no cast: PostgreSQL gives the parameter the type of the column.
    const place = [this.bind(position.value), ...end];
    this.conditions.push(
      `(${[order.column, ...this.endOf(order)].join(', ')}) ${comparison} (${place.join(', ')})`,
    );
  }

  /** Returns true if rows are read from an index that ends with {@link idTime}. */
  private endsWithIdTime({ column }: ListOrder): boolean {
    return this.indexEnd === 'time' && (this.isByIndex || column !== 'id');
  }

  /** Returns the sort expressions that follow the sorted column, for rows with equal values in it. */
  private endOf(order: ListOrder): readonly string[] {
    return this.endsWithIdTime(order) ? [idTime('id'), 'id'] : ['id'];
  }

  private tailOf(order: ListOrder, after: string | null, maxRows: number): string {
    const { column, isAscending } = order;
    const direction = isAscending ? 'ASC' : 'DESC';
    const ordered = [...(column === 'id' ? [] : [column]), ...this.endOf(order)];
    const by = `ORDER BY ${ordered.map((one) => `${one} ${direction}`).join(', ')}`;
    const limit = `LIMIT ${this.bind(maxRows)}`;
    if (isSameOrder(order, this.usualOrder)) {
      if (this.referring !== null) {
        this.addMultipleValues();
        return `WHERE id = ANY (ARRAY (${this.steppedIds(this.referring, after)} ${limit})) ${by}`;
      }
      if (this.multipleValues !== null) {
        const values = this.bind(this.multipleValues.values);
        this.conditions.push(`${this.multipleValues.column} = wanted.value`);
        const columns = column === 'id' ? 'id' : `id, ${column}`;
        return `WHERE id = ANY (ARRAY (
          SELECT id FROM unnest(${values}::text[]) AS wanted (value) CROSS JOIN LATERAL (
            SELECT ${columns} FROM ${this.table} ${this.whereClause()} ${by} ${limit}) AS matching
          ${by} ${limit})) ${by}`;
      }
    }
    this.addRemainingConditions();
    return `${this.whereClause()} ${by} ${limit}`;
  }

  /** Returns SQL that reads the ids of matching rows in descending order, with one index search per id. */
  private steppedIds({ table, column, condition }: ReferringColumn, after: string | null): string {
    const last = `SELECT max(${column}) FROM ${table} WHERE ${condition}`;
    this.conditions.push('id = candidate.id');
    return `
      WITH RECURSIVE candidate (id) AS (
        ${last}${after === null ? '' : ` AND ${column} < ${this.bind(after)}`}
        UNION ALL
        SELECT (${last} AND ${column} < candidate.id) FROM candidate WHERE candidate.id IS NOT NULL)
      SELECT matching.id FROM candidate CROSS JOIN LATERAL (
        SELECT id FROM ${this.table} ${this.whereClause()} LIMIT 1) AS matching`;
  }

  /**
   * Adds the filters of {@link whereOneOf} and {@link whereReferredBy} as ordinary conditions, for statements that do
   * not read value by value or id by id.
   */
  private addRemainingConditions(): void {
    this.addMultipleValues();
    if (this.referring !== null) this.conditions.push(isReferredBy(this.referring));
  }

  private addMultipleValues(): void {
    if (this.multipleValues === null) return;
    const { column, values } = this.multipleValues;
    this.conditions.push(`${column} = ANY (${this.bind(values)})`);
  }

  private whereClause(): string {
    return this.conditions.length === 0 ? '' : `WHERE ${this.conditions.join(' AND ')}`;
  }

  private bind(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }
}

async function refuseInvalidCursor<Result>(
  position: Position | null,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (typeof position?.value === 'string' && isDataException(error)) throw invalidCursor();
    throw error;
  }
}

function isReferredBy({ table, column, condition }: ReferringColumn): string {
  return `id IN (SELECT ${column} FROM ${table} WHERE ${condition})`;
}

/** Number of rows of one currency, and the sums of their amounts. The currency is null for rows without one. */
export interface ListSummary {
  readonly currency: string | null;
  readonly count: number;
  readonly sums: Readonly<Record<string, string>>;
}
