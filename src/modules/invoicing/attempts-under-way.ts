import { Injectable } from '@nestjs/common';

/** Those of these invoices at which an automatic attempt is under way. */
export type AttemptedNow = (invoiceIds: readonly string[]) => Promise<readonly string[]>;

/** Payments belong to a module above, which registers here while it starts. */
@Injectable()
export class AttemptsUnderWay {
  private readonly finds: AttemptedNow[] = [];

  register(find: AttemptedNow): void {
    this.finds.push(find);
  }

  async of(invoiceIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(this.finds.map((find) => find(invoiceIds)));
    return new Set(found.flat());
  }
}
