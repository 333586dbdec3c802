import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import { Texts } from './array-elements';

/**
 * Keys: column types whose values `pg` reads and writes without conversion. Values: SQL types to which statements on
 * many rows cast text. These types have no length, because the column itself checks the length.
 */
const PLAIN_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['bigint', 'bigint'],
  ['boolean', 'boolean'],
  ['char', 'text'],
  ['integer', 'integer'],
  ['numeric', 'numeric'],
  ['smallint', 'smallint'],
  ['text', 'text'],
  ['timestamptz', 'timestamptz'],
  ['varchar', 'text'],
]);
const JSON_TYPES: ReadonlySet<unknown> = new Set(['json', 'jsonb']);

type Conversion = (value: unknown) => unknown;

interface EntityColumn {
  readonly property: string;
  readonly name: string;
  /** Converts a value from `pg` to the value of the property. Null: no conversion is needed. */
  readonly read: Conversion | null;
  /** Converts the value of the property to a value that `pg` or JSON can write. Null: no conversion is needed. */
  readonly write: Conversion | null;
  /** SQL expression of a virtual column, which can only be read. Null for a column of the table. */
  readonly query: string | null;
  /** True for a JSON column, whose values are passed as text. */
  readonly isJson: boolean;
  /** SQL type of the column. Statements on many rows pass values as text, and cast them to this type. */
  readonly typeInText: string;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * SQL and row conversions of one entity, computed once. TypeORM computes them for every statement, which takes longer
 * than executing the statement.
 */
export class EntitySql<Entity extends ObjectLiteral> {
  private readonly table: string;
  private readonly columns: readonly EntityColumn[];
  private readonly converted: readonly EntityColumn[];
  private readonly list: string;

  /** @throws {Error} for a column of an unsupported type */
  constructor(metadata: EntityMetadata) {
    this.table = quoted(metadata.tableName);
    this.columns = metadata.columns.map((column) => toEntityColumn(column, this.table));
    this.converted = this.columns.filter(({ read }) => read !== null);
    this.list = this.columns
      .map(({ name, property, query }) => `${query ?? quoted(name)} AS ${quoted(property)}`)
      .join(', ');
  }

  /**
   * @param tail SQL that follows `FROM <table>`
   * @param further SQL of columns that the entity does not have
   */
  select(tail: string, further: readonly string[] = []): string {
    return `SELECT ${[this.list, ...further].join(', ')} FROM ${this.table} ${tail}`;
  }

  /** @param tail SQL that follows `UPDATE <table>` */
  updateReturning(tail: string): string {
    return `UPDATE ${this.table} ${tail} RETURNING ${this.list}`;
  }

  /** Converts rows from a statement of this class into entities, in place. */
  toEntities(rows: readonly Record<string, unknown>[]): Entity[] {
    for (const row of rows) {
      for (const { property, read } of this.converted) row[property] = read?.(row[property]);
    }
    return rows as Entity[];
  }

  /** Returns an INSERT of one row. Columns that are undefined get their defaults. */
  insert(row: Entity): Statement {
    const given = this.givenIn(row);
    const names = given.map(({ name }) => quoted(name)).join(', ');
    const places = given.map((_, index) => `$${index + 1}`).join(', ');
    return {
      sql: `INSERT INTO ${this.table} (${names}) VALUES (${places})`,
      parameters: given.map((column) => parameterOf(column, row)),
    };
  }

  /** Returns an UPDATE of one row. Columns that are undefined stay unchanged. */
  update(id: string, columns: Partial<Entity>): Statement {
    const given = this.givenIn(columns);
    const settings = given.map(({ name }, index) => `${quoted(name)} = $${index + 2}`).join(', ');
    return {
      sql: `UPDATE ${this.table} SET ${settings} WHERE "id" = $1`,
      parameters: [id, ...given.map((column) => parameterOf(column, columns))],
    };
  }

  /**
   * Returns one INSERT of many rows. The SQL text does not depend on the number of rows, so the statement can be
   * prepared.
   * @param rows all must set the same columns
   */
  insertMany(rows: readonly Entity[]): Statement {
    const given = this.givenIn(rows[0] ?? {});
    const names = given.map(({ name }) => quoted(name)).join(', ');
    return {
      sql: `INSERT INTO ${this.table} (${names}) ${selectOf(given)}`,
      parameters: given.map((column) => textsOf(column, rows)),
    };
  }

  /** @param rows all must have an id and set the same columns */
  updateMany(rows: readonly (Partial<Entity> & { readonly id: string })[]): Statement {
    const given = this.givenIn(rows[0] ?? {});
    const settings = given
      .filter(({ property }) => property !== 'id')
      .map(({ name }) => `${quoted(name)} = given.${quoted(name)}`)
      .join(', ');
    return {
      sql: `UPDATE ${this.table} SET ${settings} FROM (${selectOf(given)}) AS given WHERE ${this.table}."id" = given."id"`,
      parameters: given.map((column) => textsOf(column, rows)),
    };
  }

  private givenIn(row: Partial<Entity>): readonly EntityColumn[] {
    return this.columns.filter(
      ({ property, query }) => query === null && row[property] !== undefined,
    );
  }
}

function toEntityColumn(
  {
    propertyName: property,
    databaseName: name,
    type,
    isArray,
    transformer,
    query,
  }: EntityMetadata['columns'][number],
  table: string,
): EntityColumn {
  const isJson = JSON_TYPES.has(type);
  const typeInText = isJson ? String(type) : PLAIN_TYPES.get(type);
  if (typeInText === undefined) {
    throw new Error(`The column ${name} has a type that is not known here.`);
  }
  if (Array.isArray(transformer)) throw new Error(`The column ${name} has several transformers.`);
  return {
    property,
    name,
    query: query === undefined ? null : `(${query(table)})`,
    read: transformer === undefined ? null : (value) => transformer.from(value) as unknown,
    write: transformer === undefined ? null : (value) => transformer.to(value) as unknown,
    isJson,
    typeInText: isArray ? `${typeInText}[]` : typeInText,
  };
}

function parameterOf(column: EntityColumn, row: ObjectLiteral): unknown {
  const value = writtenOf(column, row);
  if (!column.isJson) return value;
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function writtenOf({ property, write }: EntityColumn, row: ObjectLiteral): unknown {
  const value: unknown = row[property];
  return write === null ? value : write(value);
}

/** Returns SQL that reads rows from parameters. Each parameter is an array of texts: the values of one column. */
function selectOf(columns: readonly EntityColumn[]): string {
  const places = columns.map((_, index) => `$${index + 1}::text[]`).join(', ');
  const names = columns.map(({ name }) => quoted(name));
  const values = columns.map(({ typeInText }, index) => {
    const name = names[index] ?? '';
    return typeInText === 'text' ? name : `${name}::${typeInText} AS ${name}`;
  });
  return `SELECT ${values.join(', ')} FROM unnest(${places}) AS given (${names.join(', ')})`;
}

/** Returns the values of a column as an array of texts, which the database reads faster than JSON objects. */
function textsOf(column: EntityColumn, rows: readonly ObjectLiteral[]): Buffer {
  const texts = new Texts(rows.length);
  for (const row of rows) {
    const value = parameterOf(column, row);
    if (value === null || value === undefined) texts.addNull();
    else texts.add(textOf(value));
  }
  return texts.toBuffer();
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (!Array.isArray(value)) return String(value);
  const elements = value.map((element: unknown) =>
    element === null ? 'NULL' : `"${textOf(element).replace(/["\\]/g, '\\$&')}"`,
  );
  return `{${elements.join(',')}}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}
