import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Configuration } from '../config';
import { dataSourceOptions, ENTITIES } from './data-source-options';
import { Database } from './database';
import { Partitions } from './partitions';
import { Reports } from './reports';
import { ReservedConnection } from './reserved-connection';

export interface DatabaseSource {
  readonly module: Type;
  /** `open` returns the URL of the database. */
  readonly provider: Type<{ open(): Promise<string> }>;
}

@Global()
@Module({})
export class DatabaseModule {
  /** @param database URL of the database of this process, or a provider whose `open` returns the URL */
  static connect(database: string | DatabaseSource): DynamicModule {
    const source = typeof database === 'string' ? [] : [database];
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          imports: source.map(({ module }) => module),
          inject: [Configuration, ...source.map(({ provider }) => provider)],
          useFactory: async (
            configuration: Configuration,
            opener?: { open(): Promise<string> },
          ) => ({
            ...dataSourceOptions(
              typeof database === 'string' ? database : ((await opener?.open()) ?? ''),
              configuration.databasePoolSize,
              configuration.databaseStatementTimeoutMs,
            ),
            entities: [ENTITIES],
            retryAttempts: 0,
          }),
        }),
      ],
      providers: [Database, Partitions, Reports, ReservedConnection],
      exports: [Database, Partitions, Reports, ReservedConnection],
    };
  }
}
