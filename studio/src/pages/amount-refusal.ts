import type { ProblemBody } from '../api/client';
import { money } from '../format/money';

/** Returns the text for a refusal whose problem states an amount in minor units; null for other refusals. */
export function amountRefusal(problem: ProblemBody, currency: string): string | null {
  const { code, refundable_amount, creditable_amount, creditable_total, limit } = problem;
  if (refundable_amount !== undefined)
    return `At most ${money(refundable_amount, currency)} can be refunded.`;
  if (creditable_total !== undefined)
    return `At most ${money(creditable_total, currency)} of the invoice, with tax, can still be credited.`;
  if (code === 'credit_takes_nothing' && creditable_amount === 0)
    return 'No tax is left of a line with the amount 0. Leave its field empty.';
  if (creditable_amount !== undefined)
    return `At most ${money(creditable_amount, currency)} before tax can still be credited on a line.`;
  return code === 'refund_limit_exceeded' && limit !== undefined
    ? `You may refund at most ${money(limit, currency)} of a payment in all. Ask an admin without a limit.`
    : null;
}
