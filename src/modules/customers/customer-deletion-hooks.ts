import { Injectable } from '@nestjs/common';

/** Called in the transaction that deletes a customer, after its row is written. */
export type CustomerDeletionHook = (customerId: string) => Promise<void>;

/** Hooks that run when a customer is deleted. Modules in higher layers register them when they start. */
@Injectable()
export class CustomerDeletionHooks {
  private readonly hooks: CustomerDeletionHook[] = [];

  register(hook: CustomerDeletionHook): void {
    this.hooks.push(hook);
  }

  async run(customerId: string): Promise<void> {
    for (const hook of this.hooks) await hook(customerId);
  }
}
