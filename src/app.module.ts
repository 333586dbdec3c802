/* eslint project/no-forward-ref: off -- no circle: Nest must read the settings when it builds the module, not on import */
import { type DynamicModule, forwardRef, Module } from '@nestjs/common';
import { EngineModule } from './engine.module';
import { OwnDatabase, OwnDatabaseModule } from './own-database.module';
import { loadConfiguration } from './platform/config';

let fromEnvironment: DynamicModule | undefined;

/**
 * Returns the module of the engine, with the settings of the environment variables. Returns the same object at each
 * call, because Nest would take two objects for two modules.
 */
function engineFromEnvironment(): DynamicModule {
  fromEnvironment ??= EngineModule.with(loadConfiguration(), {
    module: OwnDatabaseModule,
    provider: OwnDatabase,
  });
  return fromEnvironment;
}

/**
 * The whole application, with the settings of the environment variables. It opens its database itself, see
 * {@link OwnDatabase}. For given settings and a given database, use `EngineModule.with`.
 */
@Module({ imports: [forwardRef(engineFromEnvironment)] })
export class AppModule {}
