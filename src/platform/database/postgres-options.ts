import type { DataSource, DataSourceOptions } from 'typeorm';

/** Returns the connection options of the default pool, so that other connections can have the same settings. */
export function postgresOptionsOf(
  dataSource: DataSource,
): Extract<DataSourceOptions, { readonly type: 'postgres' }> {
  const { options } = dataSource;
  if (options.type !== 'postgres') throw new Error('The database is not PostgreSQL.');
  return options;
}
