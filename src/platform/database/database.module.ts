import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Configuration } from '../config';
import { dataSourceOptions } from './data-source-options';
import { Database } from './database';

@Global()
@Module({})
export class DatabaseModule {
  /** @param url the database of this process: configured, or the embedded server's */
  static connect(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Configuration],
          useFactory: (configuration: Configuration) => ({
            ...dataSourceOptions(url, configuration.databasePoolSize),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
        }),
      ],
      providers: [Database],
      exports: [Database],
    };
  }
}
