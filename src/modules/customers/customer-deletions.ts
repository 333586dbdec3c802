import { Injectable } from '@nestjs/common';

/** Called in the transaction that deletes a customer, after its row is written. */
export type CustomerDeletion = (customerId: string) => Promise<void>;

/** Modules above that keep something of customers register here while they start. */
@Injectable()
export class CustomerDeletions {
  private readonly followers: CustomerDeletion[] = [];

  register(follow: CustomerDeletion): void {
    this.followers.push(follow);
  }

  async tell(customerId: string): Promise<void> {
    for (const follow of this.followers) await follow(customerId);
  }
}
