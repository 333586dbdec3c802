import { Injectable } from '@nestjs/common';
import { multiply, type Rational, rational, ZERO } from '../../core/decimal';
import { fromJson } from '../../core/exact-json';
import { invariant } from '../../core/invariant';
import type { Period } from '../../core/time';
import {
  ArchivedUsage,
  type BilledPeriod,
  type RepeatableBill,
  UsageBillingService,
  UsageStore,
  type UsageToBlock,
} from '../metering';
import { type Meter, MetersService } from '../meters';
import { BilledLinesRepository } from './billed-lines.repository';
import { ChargedEventsService } from './charged-events.service';
import type { CountedUsage } from './domain/decide-usage-lines';
import type { BillingContext } from './domain/decide-invoice';
import { isFirstBillLine, usagePeriodKey, termsOfBill } from './domain/first-bill';
import { usageOf, usagePeriodsOf } from './domain/usage-to-rebill';
import type { Invoice } from './domain/invoice';
import type { LateUsageRequest, UsageLineRequest } from './domain/line-item-request';
import type { BillingRequest } from './domain/billing-request';
import type { UsagePart, ItemUsage } from './domain/usage';
import { billOf, toUsageRequest } from './domain/usage-bill';

type UsageOf = Pick<
  BillingRequest,
  'customerId' | 'subscriptionId' | 'lines' | 'late' | 'lateUsage'
>;

interface UsageToRead {
  readonly customerId: string;
  readonly request: UsageLineRequest;
  /** True if the usage was billed already and has changed since. */
  readonly isLate: boolean;
}

/** Reads the usage that invoices bill, and records what was billed. */
@Injectable()
export class UsageReadingsService {
  constructor(
    private readonly meters: MetersService,
    private readonly usage: UsageStore,
    private readonly billing: UsageBillingService,
    private readonly archivedUsage: ArchivedUsage,
    private readonly billed: BilledLinesRepository,
    private readonly charges: ChargedEventsService,
  ) {}

  /**
   * Returns the usage of requests, and the late usage that they may bill.
   * @param holds true: blocks the usage of {@link usageToBlock} until the transaction ends
   */
  async loadAll(
    requests: readonly UsageOf[],
    holds: boolean,
  ): Promise<ReadonlyMap<UsageOf, readonly CountedUsage[]>> {
    const asked = usageToReadByRequest(requests);
    const all = [...asked.values()].flat();
    const meters = await this.metersOf(all);
    if (holds) await this.billing.blockNewEvents(blockedBy(requests, all, meters));
    if (all.length === 0) return new Map();
    const withMeters = [...asked].map(([request, usage]) => ({
      request,
      usage: usage.map((one) => ({ ...one, meter: required(meters.get(one.request.meterId)) })),
    }));
    const counted = new Map<UsageOf, CountedUsage[]>();
    for (const { request, usage } of withMeters) {
      const found: CountedUsage[] = [];
      for (const one of usage) {
        const reading = await this.read(one.customerId, one.meter, one.request);
        const billed = one.isLate ? await this.billed.usage(one.request) : null;
        found.push({ request: one.request, reading, billed });
      }
      counted.set(request, found);
    }
    return counted;
  }

  /**
   * Returns the usage to block: the usage that invoices for these requests bill. If `lateUsage` of a request is
   * `closed`, also returns all usage of its customer. Its invoice marks the usage of the subscription as closed, and no
   * event may be stored between the count of this usage and the mark.
   */
  async usageToBlock(requests: readonly UsageOf[]): Promise<UsageToBlock> {
    const all = [...usageToReadByRequest(requests).values()].flat();
    return blockedBy(requests, all, await this.metersOf(all));
  }

  /** Returns the late usage of these subscriptions: the items and periods whose usage changed after it was billed. */
  async late(subscriptionIds: readonly string[]): Promise<readonly LateUsageRequest[]> {
    if (subscriptionIds.length === 0) return [];
    return (await this.billing.late(subscriptionIds)).map(toLateUsageRequest);
  }

  /** Blocks storing and voiding of these usage events until the caller's transaction ends. */
  async blockNewUsage(usage: UsageToBlock): Promise<void> {
    await this.billing.blockNewEvents(usage);
  }

  /**
   * Records the usage that invoices billed, in the transaction of the invoices.
   * @param made each request with its invoice, which may have no lines; `invoice` is null if none was made
   */
  async record(
    made: readonly {
      readonly request: UsageOf;
      readonly context: Pick<BillingContext, 'usage' | 'taxRates'>;
      readonly invoice: Invoice | null;
    }[],
    now: Date,
  ): Promise<void> {
    const bills = made.flatMap(({ request, context: { usage, taxRates }, invoice }) => {
      const { customerId, subscriptionId } = request;
      const rateIds = taxRates.map(({ taxRateId }) => taxRateId);
      const terms = invoice === null ? null : termsOfBill(invoice, rateIds);
      return usage.filter(hasTime).map((counted) => ({
        customerId,
        subscriptionId,
        ...billOf(counted, invoice?.lines ?? [], terms),
      }));
    });
    await this.billing.record(bills, now);
    await this.billing.close(
      made.flatMap(({ request: { lateUsage, subscriptionId: id, customerId }, invoice }) =>
        lateUsage === 'closed' && id !== null && invoice !== null
          ? [{ id, customerId, testClockId: invoice.testClockId }]
          : [],
      ),
    );
  }

  /**
   * Throws an error if usage of an invoice is archived, because archived usage cannot be billed again. Exception:
   * archived usage of a void invoice is allowed if another invoice billed this usage since the void, and the usage did
   * not change after that bill. Prevents archiving until the transaction ends.
   * @param otherwise sentence for the error message: the refused operation, and the alternative
   * @returns the invoice without the lines for usage that is allowed by the exception
   * @throws {ProblemError} `usage_archived`
   */
  async lockUnarchived(invoice: Invoice, otherwise: string): Promise<Invoice> {
    const billed = await this.archivedUsage.lockUnarchived(
      billedPeriodsOf(invoice),
      invoice.voidedAt,
      otherwise,
    );
    const settled = keysOf(billed);
    const lines = invoice.lines.filter(
      (line) => !usageOf(line).some((usage) => settled.has(usagePeriodKey(usage))),
    );
    return { ...invoice, lines };
  }

  /** Returns the usage that an invoice billed, to be billed again like late usage. */
  async billedBy(invoice: Invoice): Promise<readonly LateUsageRequest[]> {
    const periods = billedPeriodsOf(invoice);
    if (periods.length === 0) return [];
    return (await this.billing.newest(periods)).map(toLateUsageRequest);
  }

  /** Marks the usage that a voided invoice corrected as late usage, so that the next invoice corrects it again. */
  async reopenCorrections({ lines }: Invoice): Promise<void> {
    await this.billing.reopen(
      billedPeriodsOf({ lines: lines.filter((line) => !isFirstBillLine(line)) }),
    );
  }

  private metersOf(usage: readonly UsageToRead[]): Promise<ReadonlyMap<string, Meter>> {
    return this.meters.getAll([...new Set(usage.map(({ request }) => request.meterId))]);
  }

  async read(customerId: string, meter: Meter, request: UsageLineRequest): Promise<ItemUsage> {
    const { period, fullPeriod, heldSince, isByGroup } = request;
    const asked = { customerId, meter, period, heldSince };
    const reading = isByGroup
      ? await this.usage.aggregate({ ...asked, upToPosition: null })
      : await this.usage.readTogether(asked);
    const share = meter.aggregation === 'weighted_sum' ? shareOf(period, fullPeriod) : null;
    const { countedFrom, upToPosition } = reading;
    const groups = isByGroup ? reading.groups : [reading.groups[0] ?? NOTHING_USED];
    const { rating } = request.price;
    const chargesOf =
      rating.model === 'percentage' && groups.length > 0
        ? await this.charges.charge(rating, { ...asked, upToPosition }, isByGroup)
        : null;
    const parts = groups.map(({ group: counted, value, events }): UsagePart => {
      const group = isByGroup ? counted : null;
      const quantity = share === null ? value : multiply(value, share);
      return { group, quantity, events, charged: chargesOf?.(group) ?? null };
    });
    return { meter: termsOf(meter), countedFrom, upToPosition, parts };
  }
}

/** Returns false for a period that ends where it starts, because such a period can have a minimum, but no usage. */
function hasTime({ request: { period } }: CountedUsage): boolean {
  return period.startAt < period.endAt;
}

function toLateUsageRequest({ subscriptionId, terms }: RepeatableBill): LateUsageRequest {
  return { subscriptionId, request: toUsageRequest(fromJson(terms)) };
}

function billedPeriodsOf(invoice: Pick<Invoice, 'lines'>): readonly BilledPeriod[] {
  return usagePeriodsOf(invoice).map(({ itemId, period }) => ({ itemId, ...period }));
}

function keysOf(periods: readonly BilledPeriod[]): ReadonlySet<string> {
  return new Set(periods.map(({ itemId, ...period }) => usagePeriodKey({ itemId, period })));
}

/**
 * Returns the usage of the lines of each request, and the late usage of its subscription. Omits requests without lines,
 * unless `lateUsage` is set.
 */
function usageToReadByRequest(
  requests: readonly UsageOf[],
): ReadonlyMap<UsageOf, readonly UsageToRead[]> {
  const requesting = requests.filter(
    ({ lines, lateUsage }) => lines.length > 0 || lateUsage !== undefined,
  );
  return new Map(
    requesting.map((request) => {
      const { customerId, subscriptionId, lines, late = [] } = request;
      const requested = lines.filter((line) => line.kind === 'usage');
      const ofSubscription = late.filter((one) => one.subscriptionId === subscriptionId);
      return [
        request,
        [
          ...requested.map((one) => ({ customerId, request: one, isLate: false })),
          ...ofSubscription.map(({ request: one }) => ({ customerId, request: one, isLate: true })),
        ],
      ];
    }),
  );
}

function blockedBy(
  requests: readonly UsageOf[],
  usage: readonly UsageToRead[],
  meters: ReadonlyMap<string, Meter>,
): UsageToBlock {
  return {
    events: usage.map(({ customerId, request: { meterId } }) => ({
      customerId,
      eventName: required(meters.get(meterId)).eventName,
    })),
    customerIds: requests
      .filter(({ lateUsage }) => lateUsage === 'closed')
      .map(({ customerId }) => customerId),
  };
}

const NOTHING_USED = { group: [], value: ZERO, events: 0n };

/**
 * Returns a part of a period as a fraction of the full period. A weighted sum is an average over time, so the value of
 * a part is multiplied by this fraction.
 */
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
