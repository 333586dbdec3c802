import { Injectable } from '@nestjs/common';
import { multiply, type Rational, rational, ZERO } from '../../core/decimal';
import { fromJson } from '../../core/exact-json';
import { invariant } from '../../core/invariant';
import type { Period } from '../../core/time';
import { type BilledPeriod, UsageBillingService, UsageService } from '../metering';
import { type Meter, MetersService } from '../meters';
import { BilledLinesRepository } from './billed-lines.repository';
import { ChargedEventsService } from './charged-events.service';
import type { CountedUsage } from './domain/decide-usage-lines';
import type { BillingContext } from './domain/decide-invoice';
import { isFirst, subjectOf, termsOfBill } from './domain/first-bill';
import { usageOf } from './domain/usage-again';
import type { Invoice } from './domain/invoice';
import type { LateUsageOrder, UsageOrder } from './domain/line-order';
import type { InvoiceOrder } from './domain/order';
import type { UsagePart, ItemUsage } from './domain/usage';
import { billOf, toUsageOrder } from './domain/usage-bill';

type UsageOf = Pick<InvoiceOrder, 'customerId' | 'subscriptionId' | 'lines' | 'late' | 'lateUsage'>;

interface UsageToRead {
  readonly customerId: string;
  readonly order: UsageOrder;
  /** True for a billed period that has late usage. */
  readonly isLate: boolean;
}

/** Reads the usage that invoices bill, and records what was billed. */
@Injectable()
export class UsageReadingsService {
  constructor(
    private readonly meters: MetersService,
    private readonly usage: UsageService,
    private readonly billing: UsageBillingService,
    private readonly billed: BilledLinesRepository,
    private readonly charges: ChargedEventsService,
  ) {}

  /**
   * Returns the usage of orders, and the late usage that they may bill.
   * @param holds true: blocks new events of that usage until the transaction ends
   */
  async loadAll(
    orders: readonly UsageOf[],
    holds: boolean,
  ): Promise<ReadonlyMap<UsageOf, readonly CountedUsage[]>> {
    // An event that is stored after the last invoice has read its usage has to find that usage closed.
    if (holds && orders.some(({ lateUsage }) => lateUsage === 'closed')) {
      await this.holdAll(orders.map(({ customerId }) => customerId));
    }
    const asked = askedOf(orders);
    const all = [...asked.values()].flat();
    if (all.length === 0) return new Map();
    const meters = await this.meters.getAll([...new Set(all.map(({ order }) => order.meterId))]);
    const withMeters = [...asked].map(([order, usage]) => ({
      order,
      usage: usage.map((one) => ({ ...one, meter: required(meters.get(one.order.meterId)) })),
    }));
    if (holds) {
      await this.billing.hold(
        withMeters
          .flatMap(({ usage }) => usage)
          .map(({ customerId, meter: { eventName } }) => ({ customerId, eventName })),
      );
    }
    const counted = new Map<UsageOf, CountedUsage[]>();
    for (const { order, usage } of withMeters) {
      const found: CountedUsage[] = [];
      for (const one of usage) {
        const reading = await this.read(one.customerId, one.meter, one.order);
        const billed = one.isLate ? await this.billed.usage(one.order) : null;
        found.push({ order: one.order, reading, billed });
      }
      counted.set(order, found);
    }
    return counted;
  }

  /** Returns billed periods of subscriptions whose usage changed since. */
  async late(subscriptionIds: readonly string[]): Promise<readonly LateUsageOrder[]> {
    if (subscriptionIds.length === 0) return [];
    const late = await this.billing.late(subscriptionIds);
    return late.map(({ subscriptionId, terms }) => ({
      subscriptionId,
      order: toUsageOrder(fromJson(terms)),
    }));
  }

  /** Blocks new usage events of customers until the caller's transaction ends. */
  async holdAll(customerIds: readonly string[]): Promise<void> {
    await this.billing.holdAll(customerIds);
  }

  /**
   * Records the billed usage, in the transaction of the invoices.
   * @param made each order with its invoice, which may have no lines; null: no invoice was made
   */
  async record(
    made: readonly {
      readonly order: UsageOf;
      readonly context: Pick<BillingContext, 'usage' | 'taxRates'>;
      readonly invoice: Invoice | null;
    }[],
    now: Date,
  ): Promise<void> {
    const bills = made.flatMap(({ order, context: { usage, taxRates }, invoice }) => {
      const { customerId, subscriptionId } = order;
      const rateIds = taxRates.map(({ taxRateId }) => taxRateId);
      const terms = invoice === null ? null : termsOfBill(invoice, rateIds);
      return usage.map((counted) => ({
        customerId,
        subscriptionId,
        ...billOf(counted, invoice?.lines ?? [], terms),
      }));
    });
    await this.billing.record(bills, now);
    await this.billing.close(
      made.flatMap(({ order: { lateUsage, subscriptionId: id, customerId }, invoice }) =>
        lateUsage === 'closed' && id !== null && invoice !== null
          ? [{ id, customerId, testClockId: invoice.testClockId }]
          : [],
      ),
    );
  }

  /**
   * Requires that the usage of an invoice can be billed again, and blocks its events until the transaction ends.
   * @param otherwise sentence for the caller: what is refused, and what to do instead
   * @throws {ProblemError} `usage_archived`
   */
  async requireOpen(invoice: Invoice, otherwise: string): Promise<void> {
    await this.billing.requireOpen(usagePeriodsOf(invoice), otherwise);
  }

  /** Reopens the usage of a void invoice, and returns it: it is late until an invoice bills it. */
  async reopen(invoice: Invoice): Promise<readonly LateUsageOrder[]> {
    const { subscriptionId } = invoice;
    const periods = usagePeriodsOf(invoice);
    if (subscriptionId === null || periods.length === 0) return [];
    await this.billing.reopen(periods);
    const subjects = new Set(periods.map(({ itemId, ...period }) => subjectOf({ itemId, period })));
    return (await this.late([subscriptionId])).filter(({ order }) =>
      subjects.has(subjectOf(order)),
    );
  }

  /** Lets the next invoice bill the corrections of an invoice that is declared void. */
  async reopenCorrections({ lines }: Invoice): Promise<void> {
    await this.billing.reopen(usagePeriodsOf({ lines: lines.filter((line) => !isFirst(line)) }));
  }

  /** Reads the usage of an item in its period. */
  async read(customerId: string, meter: Meter, order: UsageOrder): Promise<ItemUsage> {
    const { period, fullPeriod, heldSince, isByGroup } = order;
    const asked = { customerId, meter, period, heldSince };
    const reading = isByGroup
      ? await this.usage.read({ ...asked, upToPosition: null })
      : await this.usage.readTogether(asked);
    const share = meter.aggregation === 'weighted_sum' ? shareOf(period, fullPeriod) : null;
    const { countedFrom, upToPosition } = reading;
    const groups = isByGroup ? reading.groups : [reading.groups[0] ?? NOTHING_USED];
    const parts: UsagePart[] = [];
    for (const { group, value, events } of groups) {
      const query = { ...asked, upToPosition };
      const { rating } = order.price;
      parts.push({
        group: isByGroup ? group : null,
        quantity: share === null ? value : multiply(value, share),
        events,
        charged:
          rating.model === 'percentage'
            ? await this.charges.charge(rating, query, isByGroup ? group : null)
            : null,
      });
    }
    return { meter: termsOf(meter), countedFrom, upToPosition, parts };
  }
}

function usagePeriodsOf({ lines }: Pick<Invoice, 'lines'>): readonly BilledPeriod[] {
  return lines.flatMap(usageOf).map(({ itemId, period }) => ({ itemId, ...period }));
}

/** Late usage is billed by the next invoice that orders lines, or that asks for it. */
function askedOf(orders: readonly UsageOf[]): ReadonlyMap<UsageOf, readonly UsageToRead[]> {
  const requesting = orders.filter(
    ({ lines, lateUsage }) => lines.length > 0 || lateUsage !== undefined,
  );
  return new Map(
    requesting.map((order) => {
      const { customerId, subscriptionId, lines, late = [] } = order;
      const ordered = lines.filter((line) => line.kind === 'usage');
      const ofSubscription = late.filter((one) => one.subscriptionId === subscriptionId);
      return [
        order,
        [
          ...ordered.map((one) => ({ customerId, order: one, isLate: false })),
          ...ofSubscription.map(({ order: one }) => ({ customerId, order: one, isLate: true })),
        ],
      ];
    }),
  );
}

const NOTHING_USED = { group: [], value: ZERO, events: 0n };

/** A weighted sum is weighed over its full period, of which this is a part: the parts add up. */
function shareOf(part: Period, full: Period): Rational {
  const lengthMs = ({ startAt, endAt }: Period) => BigInt(endAt.getTime() - startAt.getTime());
  return rational(lengthMs(part), lengthMs(full));
}

function termsOf(meter: Meter): ItemUsage['meter'] {
  const { id, key, eventName, aggregation, valueProperty, filters, groupBy: names } = meter;
  return { id, key, eventName, aggregation, valueProperty, filters, groupBy: names };
}

function required(meter: Meter | undefined): Meter {
  invariant(meter !== undefined, 'a meter that is billed exists');
  return meter;
}
