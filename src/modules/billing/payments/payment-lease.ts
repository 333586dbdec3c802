import type { HeldLease } from '../../../platform/processes';
import type { Payment } from '../../payments';

/** Returns the lease (the claim of one process) of payments that were stored in one transaction. */
export function leaseOf(payments: readonly Pick<Payment, 'id' | 'dueAt'>[]): HeldLease {
  const ids = payments.map(({ id }) => id);
  return { table: 'payment', ids, endsAt: payments[0]?.dueAt ?? null };
}
