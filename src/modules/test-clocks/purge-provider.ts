import type { FactoryProvider, OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database';
import { TestClockParticipants } from './test-clock-participants';

/**
 * Returns a Nest provider that registers the purge of a module: when a test clock is deleted, the statements delete the
 * module's rows about the customers on the clock.
 * @param statements SQL statements, executed in this order. `$1` stands for the ids of the customers. Each statement
 *   returns the ids of the deleted objects that have events, so that the events are deleted too
 */
export function purgeProvider(
  name: string,
  statements: readonly string[],
): FactoryProvider<OnModuleInit> {
  return {
    provide: `${name}-purge`,
    inject: [TestClockParticipants, Database],
    useFactory: (testClocks: TestClockParticipants, database: Database) => ({
      onModuleInit: () =>
        testClocks.registerPurge({
          name,
          purge: async (customerIds) => {
            database.requireTransaction();
            const ids: string[] = [];
            for (const statement of statements) {
              ids.push(...(await database.queryValues<string>(statement, [customerIds])));
            }
            return ids;
          },
        }),
    }),
  };
}
