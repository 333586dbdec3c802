import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Configuration } from '../config';
import { dataSourceOptions, ENTITIES } from './data-source-options';
import { Database } from './database';
import { Partitions } from './partitions';
import { Reports } from './reports';
import { ReservedConnection } from './reserved-connection';

@Global()
@Module({})
export class DatabaseModule {
  /**
   * @param url URL of the database of this process: the configured URL, or the URL of the embedded server
   */
  static connect(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Configuration],
          useFactory: (configuration: Configuration) => ({
            ...dataSourceOptions(
              url,
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
