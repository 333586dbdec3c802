import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { EntitySql, type Statement } from './entity-sql';

/** Caches the SQL of each entity, and the names of its prepared inserts. */
export class EntityStatements {
  private readonly byEntity = new Map<EntityTarget<ObjectLiteral>, EntitySql<ObjectLiteral>>();
  private readonly insertNames = new Map<string, string>();

  constructor(private readonly dataSource: DataSource) {}

  forEntity<Entity extends ObjectLiteral>(entity: EntityTarget<Entity>): EntitySql<Entity> {
    const known = this.byEntity.get(entity);
    if (known !== undefined) return known as unknown as EntitySql<Entity>;
    const made = new EntitySql<Entity>(this.dataSource.getMetadata(entity));
    this.byEntity.set(entity, made);
    return made;
  }

  /**
   * Returns the arguments of `Database.queryPrepared` for an insert. Only inserts are prepared. The cached plan of
   * another statement may be made while its table is small. That plan is slow after the table has grown, and PostgreSQL
   * replaces it only when it analyses the table.
   */
  preparedInsert({
    sql,
    parameters,
  }: Statement): [name: string, sql: string, parameters: readonly unknown[]] {
    const name = this.insertNames.get(sql) ?? `insert_${this.insertNames.size + 1}`;
    this.insertNames.set(sql, name);
    return [name, sql, parameters];
  }
}
