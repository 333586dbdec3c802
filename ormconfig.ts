import { DataSource } from 'typeorm';
import { loadConfiguration } from './src/platform/config';
import { dataSourceOptions, ENTITIES } from './src/platform/database';

const configuration = loadConfiguration();
if (configuration.databaseUrl === null) {
  throw new Error('Set DATABASE_URL to the database that the command is for.');
}

/** For TypeORM's command line only (`npm run migration:generate`); the service connects through DatabaseModule. */
export default new DataSource({
  ...dataSourceOptions(configuration.databaseUrl, 2),
  entities: [ENTITIES],
});
