import { type ReferenceInvoice, takeBack } from './bill';
import { endOfMonths } from './calendar';
import type { Redemption } from './redemption';
import { type BilledLine, standing } from './line';

/** Returns true if lines of an invoice were credited, by credit notes or later invoices. */
export function isCredited({ lines }: ReferenceInvoice): boolean {
  return lines.some((line) => line.credited > 0n || line.isTakenBack || isGivenBack(line));
}

/** Returns true if a later invoice took back usage of the same price and period. */
function isGivenBack(line: BilledLine): boolean {
  const lines = line.usage?.lines ?? [];
  const later = standing(lines.slice(lines.indexOf(line) + 1));
  return later.some(({ listed }) => listed !== null && listed < 0n);
}

/** Voids an invoice. The credit that it consumed is available again. Lines that it credited count as not credited. */
export function voidInvoice(
  invoice: ReferenceInvoice,
  now: number,
  redemptions: readonly Redemption[],
  zone: string,
): void {
  takeBack(invoice, redemptions, (from, months) => endOfMonths(from, months, zone));
  invoice.status = 'void';
  invoice.chargeAt = now;
  invoice.events.push('voided');
  for (const { credit, amount } of invoice.creditsUsed) credit.left += amount;
  for (const line of invoice.lines) {
    line.isVoid = true;
    if (line.creditedLine !== null) {
      line.creditedLine.credited += line.amount;
      line.creditedLine.isTakenBack = false;
    }
    if (line.item !== null) line.item.billed = line.item.billed.filter((one) => one !== line);
  }
}
