import type { DataSource, DataSourceOptions } from 'typeorm';

/** Returns the options of the default pool, for further connections with the same settings. */
export function postgresOptionsOf(
  dataSource: DataSource,
): Extract<DataSourceOptions, { readonly type: 'postgres' }> {
  const { options } = dataSource;
  if (options.type !== 'postgres') throw new Error('The database is not PostgreSQL.');
  return options;
}
