import type { FactoryProvider, OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database';
import { TestClockParticipants } from './test-clock-participants';

/**
 * Returns a Nest provider that registers the purge of a module. When a test clock is deleted, the statements delete the
 * module's rows about the customers on the clock.
 * @param statements SQL statements, executed in this order; `$1` is the list of customer ids. If the deleted objects
 *   have events, the statement must return the ids of these objects, so that their events are deleted too.
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
              const deleted = await database.queryValues<string>(statement, [customerIds]);
              for (const id of deleted) ids.push(id);
            }
            return ids;
          },
        }),
    }),
  };
}
