import type { FactoryProvider, OnModuleInit, Type } from '@nestjs/common';
import { TestClockParticipants } from './test-clock-participants';

/** Returns a Nest provider that purges the data of a repository about customers on a deleted test clock. */
export function purgeProvider<Repository>(
  name: string,
  repository: Type<Repository>,
  purge: (from: Repository, customerIds: readonly string[]) => Promise<readonly string[]>,
): FactoryProvider<OnModuleInit> {
  return {
    provide: `${name}-purge`,
    inject: [TestClockParticipants, repository],
    useFactory: (testClocks: TestClockParticipants, from: Repository) => ({
      onModuleInit: () =>
        testClocks.registerPurge({ name, purge: (customerIds) => purge(from, customerIds) }),
    }),
  };
}
