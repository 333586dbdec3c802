import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';

/** What a module keeps of customers, and how it goes with their test clock. */
export interface TestClockRemoval {
  /** kebab-case, unique */
  readonly name: string;
  /** Removes all of it, in the caller's transaction; returns the ids of what events tell of. */
  readonly remove: (customerIds: readonly string[]) => Promise<readonly string[]>;
}

/** The customers on test clocks themselves; they go when nothing refers to them any more. */
export interface TestClockCustomers {
  /** Locks them until the transaction ends, deleted ones too, so that nothing new refers to them; returns their ids. */
  readonly lock: (testClockId: string) => Promise<readonly string[]>;
  readonly remove: (customerIds: readonly string[]) => Promise<void>;
}

/** The modules that keep something of customers register here how it goes; whoever deletes a clock calls on them. */
@Injectable()
export class TestClockRemovals {
  private readonly removals: TestClockRemoval[] = [];
  private customers: TestClockCustomers | null = null;

  registerCustomers(customers: TestClockCustomers): void {
    this.customers = customers;
  }

  register(removal: TestClockRemoval): void {
    this.removals.push(removal);
  }

  /** @returns the ids of the customers on the clock, locked until the transaction ends */
  async lockCustomers(testClockId: string): Promise<readonly string[]> {
    invariant(this.customers !== null, 'somebody knows the customers');
    return this.customers.lock(testClockId);
  }

  /**
   * Removes the customers with all that is kept of them, in the caller's transaction.
   * @returns the ids of what events tell of
   */
  async remove(customerIds: readonly string[]): Promise<readonly string[]> {
    invariant(this.customers !== null, 'somebody knows the customers');
    const removed = [...customerIds];
    // Modules start from the lowest up, so that here what refers goes before what it refers to.
    for (const { remove } of [...this.removals].reverse()) {
      removed.push(...(await remove(customerIds)));
    }
    await this.customers.remove(customerIds);
    return removed;
  }
}
