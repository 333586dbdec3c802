import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';

/** Deletes the data that one module keeps about customers, when their test clock is deleted. */
export interface TestClockPurge {
  /** kebab-case, unique */
  readonly name: string;
  /** Deletes the data in the caller's transaction. Returns the ids of deleted objects whose events must go too. */
  readonly purge: (customerIds: readonly string[]) => Promise<readonly string[]>;
}

/** Deletes the customers on a test clock, after everything that refers to them. */
export interface TestClockCustomers {
  /**
   * Locks the customers, deleted ones too, until the transaction ends, so that no new row refers to them.
   * Returns their ids.
   */
  readonly lock: (testClockId: string) => Promise<readonly string[]>;
  readonly purge: (customerIds: readonly string[]) => Promise<void>;
}

/** Registry of purges. Modules that keep data about customers register; deleting a test clock runs them all. */
@Injectable()
export class TestClockPurges {
  private readonly purges: TestClockPurge[] = [];
  private customers: TestClockCustomers | null = null;

  registerCustomers(customers: TestClockCustomers): void {
    this.customers = customers;
  }

  register(purge: TestClockPurge): void {
    this.purges.push(purge);
  }

  /** @returns the ids of the customers on the clock, locked until the transaction ends */
  async lockCustomers(testClockId: string): Promise<readonly string[]> {
    invariant(this.customers !== null, 'the customers module has registered its purge');
    return this.customers.lock(testClockId);
  }

  /**
   * Deletes the customers and all data about them, in the caller's transaction.
   * @returns the ids of all deleted objects, to delete their events
   */
  async purge(customerIds: readonly string[]): Promise<readonly string[]> {
    invariant(this.customers !== null, 'the customers module has registered its purge');
    const purged = [...customerIds];
    // Modules start from the lowest layer up. The reverse order deletes referring rows before the rows they refer to.
    for (const { purge } of [...this.purges].reverse()) {
      purged.push(...(await purge(customerIds)));
    }
    await this.customers.purge(customerIds);
    return purged;
  }
}
