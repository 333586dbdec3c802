/* eslint project/no-forward-ref: off -- no circle: Nest must read the settings when it builds the module, not on import */
import { type DynamicModule, forwardRef, Module } from '@nestjs/common';
import { EngineModule } from './engine.module';
import { OwnDatabase, OwnDatabaseModule } from './own-database.module';
import { loadConfiguration } from './platform/config';

let fromEnvironment: DynamicModule | undefined;

/** Returns the same object at each call, because Nest treats two objects as two modules. */
function engineFromEnvironment(): DynamicModule {
  fromEnvironment ??= EngineModule.with(loadConfiguration(), {
    module: OwnDatabaseModule,
    provider: OwnDatabase,
  });
  return fromEnvironment;
}

/**
 * The whole application, configured by the environment variables. The application opens its database itself, see
 * {@link OwnDatabase}. To pass settings and a database instead, use `EngineModule.with`.
 */
@Module({ imports: [forwardRef(engineFromEnvironment)] })
export class AppModule {}
