import { formatExact, parseDecimal } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import { creditForUnused, type Commitment, type LineKind } from '../../../core/invoice';
import { prorate, unusedPart, type Proration } from '../../../core/proration';
import { rate, roundAtLine } from '../../../core/rating';
import { lateUsageLine, usageLines, type CountedUsage } from './decide-usage-lines';
import type { InvoiceLine } from './invoice';
import { soldLike, unitAmountOf, type LineDraft } from './line-draft';
import type { ChargeOrder, CreditOrder, FixedOrder, LineOrder, UsageOrder } from './line-order';
import { fullAmountOf, type LineTrace } from './trace';

export interface DecidedLines {
  readonly lines: readonly LineDraft[];
  /** The limits of prices, each with the line that its true-up is made like. */
  readonly commitments: readonly (Omit<Commitment, 'taxRateIds'> & {
    readonly of: ChargeOrder | UsageOrder;
  })[];
}

/** What lines are made of beside their orders. */
export interface LineFacts {
  /** Finalised lines of the items that are credited. */
  readonly billed: readonly InvoiceLine[];
  /** What was counted for the usage that is ordered, and for usage that came late. */
  readonly usage: readonly CountedUsage[];
}

/**
 * The lines that orders make, rounded, before discounts and tax. What there is nothing of is no line: a part without
 * days, a credit of nothing, no usage.
 *
 * @param nextId makes the id of the next line
 */
export function decideLines(
  orders: readonly LineOrder[],
  { billed, usage }: LineFacts,
  nextId: () => string,
): DecidedLines {
  const lines: LineDraft[] = [];
  const commitments: DecidedLines['commitments'][number][] = [];
  for (const order of orders) {
    switch (order.kind) {
      case 'fixed':
        lines.push(fixedLine(order, nextId()));
        break;
      case 'credit':
        lines.push(...creditLines(order, billed, nextId));
        break;
      case 'usage': {
        const made = usageLines(countedFor(order, usage), nextId);
        lines.push(...made.lines);
        commitments.push(...made.commitments);
        break;
      }
      case 'charge': {
        if (order.proration?.numerator === 0n) break;
        const line = chargeLine(order, nextId());
        lines.push(line);
        const { minimumMinor, maximumMinor } = order.price;
        if (minimumMinor !== null || maximumMinor !== null) {
          commitments.push({
            lineId: nextId(),
            countedLineIds: new Set([line.id]),
            alreadyBilledMinor: 0n,
            minimumMinor,
            maximumMinor,
            proration: order.proration,
            of: order,
          });
        }
      }
    }
  }
  for (const late of usage) {
    const line = late.billed === null ? null : lateUsageLine(late, nextId);
    if (line !== null) lines.push(line);
  }
  return { lines, commitments };
}

function countedFor(order: UsageOrder, usage: readonly CountedUsage[]): CountedUsage {
  const counted = usage.find(({ order: one, billed }) => billed === null && one === order);
  invariant(counted !== undefined, 'what is ordered was counted');
  return counted;
}

function fixedLine({ description, amountMinor }: FixedOrder, id: string): LineDraft {
  return {
    ...NOTHING_SOLD,
    id,
    kind: 'one_off',
    description,
    amount: amountMinor,
    trace: { kind: 'fixed', amountMinor },
  };
}

function chargeLine(order: ChargeOrder, id: string): LineDraft {
  const { price, quantity, proration } = order;
  const rated = rate(price.rating, { kind: 'quantity', quantity: parseDecimal(quantity) });
  return {
    ...soldLike(order),
    id,
    kind: order.isProration ? 'proration' : 'recurring',
    description: order.isProration ? `${price.name} (rest of the period)` : price.name,
    quantity,
    unitAmount: unitAmountOf(price.rating),
    amount: roundAtLine(rated.amount, proration),
    trace: { kind: 'rated', price: price.rating, quantity, steps: rated.steps, proration },
  };
}

/** The line that lifts or lowers a charge to a limit of its price. */
export function trueUpLine(
  commitment: DecidedLines['commitments'][number],
  kind: LineKind,
  amount: bigint,
  billedMinor: bigint,
): LineDraft {
  const { of: order, lineId, minimumMinor, maximumMinor, proration } = commitment;
  const trace: LineTrace = { kind: 'true_up', billedMinor, minimumMinor, maximumMinor, proration };
  return {
    ...soldLike(order),
    id: lineId,
    kind,
    description: `${order.price.name} (${kind})`,
    quantity: null,
    unitAmount: null,
    amount,
    trace,
  };
}

/** One credit for each charge of the item that reaches beyond the instant, true-ups included. */
function creditLines(
  order: CreditOrder,
  billed: readonly InvoiceLine[],
  nextId: () => string,
): LineDraft[] {
  const ofItem = billed.filter(({ itemId }) => itemId === order.itemId);
  return ofItem
    .filter(({ kind }) => kind === 'recurring' || kind === 'proration')
    .flatMap((line) => {
      const unused = unusedOf(line, order.unusedFrom, order.end);
      const draft = creditLine(line, trueUpsOf(line, ofItem), order.unusedFrom, unused, nextId());
      return draft.amount === 0n ? [] : [draft];
    });
}

/**
 * The credit of another credit line, for what the line that it takes back holds by now; null where that holds nothing, or
 * is billed no more. What was earned by now is taken from revenue, and no longer from what is deferred.
 *
 * @param billed finalised lines of the item that is credited
 */
export function creditAgain(
  credit: InvoiceLine,
  billed: readonly InvoiceLine[],
  id: string,
): LineDraft | null {
  const { trace, period, itemId, creditsLineId } = credit;
  invariant(trace.kind === 'credit' && period !== null, 'a credit says what it takes back');
  const line = billed.find((one) => one.id === creditsLineId);
  if (line === undefined) return null;
  const ofItem = billed.filter((one) => one.itemId === itemId);
  const draft = creditLine(line, trueUpsOf(line, ofItem), period.startAt, trace.unused, id);
  return draft.amount === 0n
    ? null
    : { ...draft, isInAdvance: draft.isInAdvance && !line.isReleased };
}

function trueUpsOf(line: InvoiceLine, lines: readonly InvoiceLine[]): readonly InvoiceLine[] {
  return lines.filter(
    ({ invoiceId, kind, period }) =>
      (kind === 'minimum' || kind === 'maximum') &&
      invoiceId === line.invoiceId &&
      period?.startAt.getTime() === line.period?.startAt.getTime(),
  );
}

function creditLine(
  line: InvoiceLine,
  trueUps: readonly InvoiceLine[],
  unusedFrom: Date,
  unused: Proration,
  id: string,
): LineDraft {
  const parts = [line, ...trueUps];
  const limits = trueUps.map(({ trace }) => trace);
  const fullAmount = fullAmountOf(line.trace, limits);
  const billedLine = {
    fullAmount,
    proration: line.proration,
    amountMinor: totalOf(parts, ({ amount }) => amount),
    discountMinor: totalOf(parts, ({ discount }) => discount),
    creditedMinor: totalOf(parts, ({ credited }) => credited),
  };
  return {
    ...line,
    id,
    kind: 'credit',
    description: `${line.description} (unused)`,
    unitAmount: null,
    amount: -creditForUnused(billedLine, unused),
    period: { startAt: unusedFrom, endAt: line.period?.endAt ?? unusedFrom },
    proration: unused,
    creditsLineId: line.id,
    trace: {
      kind: 'credit',
      fullAmount: formatExact(fullAmount),
      billedProration: line.proration,
      billedMinor: billedLine.amountMinor,
      discountMinor: billedLine.discountMinor,
      creditedMinor: billedLine.creditedMinor,
      unused,
    },
  };
}

function unusedOf(line: InvoiceLine, from: Date, end: CreditOrder['end']): Proration {
  const { period, fullPeriod, prorationUnit: unit, timeZone } = line;
  invariant(
    period !== null && fullPeriod !== null && unit !== null && timeZone !== null,
    'what is credited was billed for a period',
  );
  // What was billed from later on, for a part that is yet to come, is unused as a whole.
  const startAt = from > period.startAt ? from : period.startAt;
  if (end === 'border' || from < period.startAt) {
    return prorate(unit, { startAt, endAt: period.endAt, end: 'border' }, fullPeriod, timeZone);
  }
  const billed =
    line.proration ?? prorate(unit, { ...period, end: 'border' }, fullPeriod, timeZone);
  const used = prorate(
    unit,
    { startAt: period.startAt, endAt: from, end: 'termination' },
    fullPeriod,
    timeZone,
  );
  return unusedPart(used, billed);
}

const NOTHING_SOLD = {
  quantity: null,
  unitAmount: null,
  priceId: null,
  itemId: null,
  period: null,
  fullPeriod: null,
  proration: null,
  prorationUnit: null,
  timeZone: null,
  isInAdvance: false,
  creditsLineId: null,
} as const;

function totalOf(lines: readonly InvoiceLine[], amountOf: (line: InvoiceLine) => bigint): bigint {
  return lines.reduce((total, line) => total + amountOf(line), 0n);
}
