import type { EntityMetadata, ObjectLiteral } from 'typeorm';

/** Types whose values `pg` reads and writes as the properties of an entity hold them. */
const PLAIN_TYPES: ReadonlySet<unknown> = new Set([
  'bigint',
  'boolean',
  'char',
  'integer',
  'numeric',
  'smallint',
  'text',
  'timestamptz',
  'varchar',
]);
const JSON_TYPES: ReadonlySet<unknown> = new Set(['json', 'jsonb']);

type Conversion = (value: unknown) => unknown;

interface EntityColumn {
  readonly property: string;
  readonly name: string;
  /** From what `pg` reads to what the property holds; null where that is the same. */
  readonly read: Conversion | null;
  /** From what the property holds to a parameter; null where that is the same. */
  readonly write: Conversion | null;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * The statements of one entity and what its rows become, worked out once. TypeORM does it anew for every statement, at
 * more than the cost of the statement itself.
 */
export class EntitySql<Entity extends ObjectLiteral> {
  private readonly table: string;
  private readonly columns: readonly EntityColumn[];
  private readonly converted: readonly EntityColumn[];
  private readonly list: string;

  /** @throws {Error} for a column of a type that is not known here */
  constructor(metadata: EntityMetadata) {
    this.table = quoted(metadata.tableName);
    this.columns = metadata.columns.map(toEntityColumn);
    this.converted = this.columns.filter(({ read }) => read !== null);
    this.list = this.columns
      .map(({ name, property }) => `${quoted(name)} AS ${quoted(property)}`)
      .join(', ');
  }

  /** @param tail what follows FROM, in SQL */
  select(tail: string): string {
    return `SELECT ${this.list} FROM ${this.table} ${tail}`;
  }

  /** @param tail what follows UPDATE and the table, in SQL */
  updateReturning(tail: string): string {
    return `UPDATE ${this.table} ${tail} RETURNING ${this.list}`;
  }

  /** Turns rows of these statements into what TypeORM would have made of them. */
  toEntities(rows: readonly Record<string, unknown>[]): Entity[] {
    for (const row of rows) {
      for (const { property, read } of this.converted) row[property] = read?.(row[property]);
    }
    return rows as Entity[];
  }

  /** What the row leaves undefined has its default. */
  insert(row: Entity): Statement {
    const given = this.givenIn(row);
    const names = given.map(({ name }) => quoted(name)).join(', ');
    const places = given.map((_, index) => `$${index + 1}`).join(', ');
    return {
      sql: `INSERT INTO ${this.table} (${names}) VALUES (${places})`,
      parameters: given.map((column) => parameterOf(column, row)),
    };
  }

  /** What the columns leave undefined stays. */
  update(id: string, columns: Partial<Entity>): Statement {
    const given = this.givenIn(columns);
    const settings = given.map(({ name }, index) => `${quoted(name)} = $${index + 2}`).join(', ');
    return {
      sql: `UPDATE ${this.table} SET ${settings} WHERE "id" = $1`,
      parameters: [id, ...given.map((column) => parameterOf(column, columns))],
    };
  }

  private givenIn(row: Partial<Entity>): readonly EntityColumn[] {
    return this.columns.filter(({ property }) => row[property] !== undefined);
  }
}

function toEntityColumn({
  propertyName: property,
  databaseName: name,
  type,
  transformer,
}: EntityMetadata['columns'][number]): EntityColumn {
  const isJson = JSON_TYPES.has(type);
  if (!isJson && !PLAIN_TYPES.has(type)) {
    throw new Error(`The column ${name} has a type that is not known here.`);
  }
  if (Array.isArray(transformer)) throw new Error(`The column ${name} has several transformers.`);
  if (transformer === undefined)
    return { property, name, read: null, write: isJson ? toJson : null };
  const read: Conversion = (value) => transformer.from(value) as unknown;
  const write: Conversion = (value) => transformer.to(value) as unknown;
  return { property, name, read, write: isJson ? (value) => toJson(write(value)) : write };
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function parameterOf({ property, write }: EntityColumn, row: ObjectLiteral): unknown {
  const value: unknown = row[property];
  return write === null ? value : write(value);
}

function quoted(name: string): string {
  return `"${name}"`;
}
