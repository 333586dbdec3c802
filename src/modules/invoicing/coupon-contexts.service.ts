import { Injectable } from '@nestjs/common';
import { CatalogService } from '../catalog';
import {
  discountsPeriodFrom,
  isUsedPercentage,
  isUsedUp,
  type RedeemedTerms,
  RedemptionsService,
  restOf,
} from '../coupons';
import { BilledLinesRepository, type TakenDiscount } from './billed-lines.repository';
import { type CouponContext, endOf } from './domain/decide-coupons';
import type { BilledLine } from './domain/held-lines';
import type { InvoiceCoupon } from './domain/invoice';
import type { BillingRequest } from './domain/billing-request';

export type CouponRequest = Pick<BillingRequest, 'subscriptionId' | 'billingPeriod'> & {
  /** For a regenerated invoice: ids of the coupon redemptions to which the void invoice had returned discounts. */
  readonly returnsTo?: readonly string[];
  /**
   * Time zone in which the months of repeating coupons are counted. Set for drafts and regenerated invoices, because a
   * later period may have been billed before they are finalized. A coupon is then left out if its months cannot include
   * both the period of this invoice and the later periods that the coupon discounted.
   */
  readonly timeZone?: string;
  /**
   * True if the invoice is regenerated after its subscription ended. Coupons that ended with the subscription still
   * apply.
   */
  readonly hasEnded?: boolean;
  /**
   * Stored coupons of a renewal draft that is calculated again. Only these coupons apply, with their present remaining
   * amounts. A coupon that ended with its subscription after the draft was made still applies.
   */
  readonly draftCoupons?: readonly InvoiceCoupon[];
};

/** A request, and the lines of earlier invoices that it may credit or correct. */
interface Crediting<Request> {
  readonly request: Request;
  readonly corrected: readonly BilledLine[];
}

/** Reads the coupons that apply to invoices, and the remaining amount of each. */
@Injectable()
export class CouponContextsService {
  constructor(
    private readonly redemptions: RedemptionsService,
    private readonly catalog: CatalogService,
    private readonly billed: BilledLinesRepository,
  ) {}

  /**
   * Returns a function that maps a request to the coupons that apply to it. Includes the coupons of earlier lines that
   * the request may credit or correct.
   */
  async loadAll<Request extends CouponRequest>(
    requests: readonly Crediting<Request>[],
  ): Promise<(request: Request) => readonly CouponContext[]> {
    const termsOf = await this.applyingTo(requests.map(({ request }) => request));
    const usedUp = await this.redemptions.usedUpOf(requests.flatMap(redemptionIdsOf));
    const againOf = (one: Crediting<CouponRequest>): readonly RedeemedTerms[] =>
      redemptionIdsOf(one).flatMap((id) => usedUp.get(id) ?? []);
    const taken = await this.takenIn(
      requests
        .filter((one) =>
          [...termsOf(one.request), ...againOf(one)].some(
            (terms) => hasAmountPerPeriod(terms) || isUsedPercentage(terms),
          ),
        )
        .map(({ request }) => request),
    );
    const found = new Map<Request, readonly CouponContext[]>();
    for (const { request, corrected } of requests) {
      const { subscriptionId, billingPeriod } = request;
      if (subscriptionId === null) continue;
      const terms = termsOf(request).filter(
        ({ redemption }) =>
          billingPeriod === null || discountsPeriodFrom(redemption, billingPeriod.startAt),
      );
      const lasting = await this.withinMonths(terms, request);
      const again = againOf({ request, corrected });
      found.set(request, await this.contextsOf(inPeriod([...again, ...lasting], taken), taken));
    }
    return (request) => found.get(request) ?? [];
  }

  /** @param taken discounts that other invoices already gave in the billing period, by redemption id */
  async contextsOf(
    terms: readonly RedeemedTerms[],
    taken: ReadonlyMap<string, Pick<TakenDiscount, 'takenMinor'>>,
  ): Promise<readonly CouponContext[]> {
    const planIds = new Set(terms.flatMap(({ coupon }) => coupon.planIds));
    const pricesOf = await this.catalog.getPriceIdsOfPlans([...planIds]);
    return terms.map(({ redemption, coupon }) => ({
      redemptionId: redemption.id,
      redeemedAt: redemption.redeemedAt,
      duration: coupon.duration,
      percentOff: coupon.percentOff,
      amountOffMinor: coupon.amountOff,
      remainingMinor: restOf({ redemption, coupon }),
      takenMinor: taken.get(redemption.id)?.takenMinor ?? 0n,
      isUsedUp: isUsedUp({ redemption, coupon }),
      months: coupon.durationInMonths,
      endsAt: redemption.endsAt,
      priceIds:
        coupon.planIds.length === 0
          ? null
          : new Set(coupon.planIds.flatMap((planId) => pricesOf.get(planId) ?? [])),
    }));
  }

  private async applyingTo(
    requests: readonly CouponRequest[],
  ): Promise<(request: CouponRequest) => readonly RedeemedTerms[]> {
    const idsOf = (those: readonly CouponRequest[]): readonly string[] =>
      those.flatMap(({ subscriptionId }) => subscriptionId ?? []);
    const isOfEnded = ({ hasEnded = false, billingPeriod }: CouponRequest): boolean =>
      hasEnded && billingPeriod !== null;
    const withoutDraft = requests.filter(({ draftCoupons }) => draftCoupons === undefined);
    const running = await this.redemptions.runningRedemptions(
      idsOf(withoutDraft.filter((request) => !isOfEnded(request))),
    );
    const ofEnded = await this.redemptions.unusedRedemptions(idsOf(withoutDraft.filter(isOfEnded)));
    const ofDrafts = await this.redemptions.remainingTermsOf(
      requests.flatMap(({ draftCoupons = [] }) =>
        draftCoupons.map(({ redemptionId }) => redemptionId),
      ),
    );
    return ({ subscriptionId, draftCoupons }) =>
      draftCoupons === undefined
        ? (ofEnded.get(subscriptionId ?? '') ?? running.get(subscriptionId ?? '') ?? [])
        : draftCoupons
            .filter(({ correctedFrom }) => correctedFrom === undefined)
            .flatMap(({ redemptionId }) => ofDrafts.get(redemptionId) ?? []);
  }

  /**
   * Leaves out repeating coupons that would discount periods outside their months. The months of a coupon begin with
   * the earliest billing period that it discounted. Example: a coupon of 3 months discounted March to May. If the
   * request bills February, the months would end with April. The coupon is left out, because it already discounted May.
   */
  private async withinMonths(
    terms: readonly RedeemedTerms[],
    { subscriptionId, billingPeriod, timeZone }: CouponRequest,
  ): Promise<readonly RedeemedTerms[]> {
    if (subscriptionId === null || billingPeriod === null || timeZone === undefined) return terms;
    const ends = terms.map(({ redemption: { endsAt }, coupon: { durationInMonths: months } }) => {
      const ownEndsAt = endOf({ months }, billingPeriod.startAt, timeZone);
      return endsAt !== null && ownEndsAt !== null && ownEndsAt < endsAt ? ownEndsAt : null;
    });
    if (ends.every((endsAt) => endsAt === null)) return terms;
    const spans = await this.billed.discountedSpans([subscriptionId], null);
    return terms.filter(({ redemption }, index) => {
      const endsAt = ends[index] ?? null;
      const lastAt = spans.get(redemption.id)?.lastAt ?? null;
      return endsAt === null || lastAt === null || lastAt < endsAt;
    });
  }

  private async takenIn(
    requests: readonly CouponRequest[],
  ): Promise<ReadonlyMap<string, TakenDiscount>> {
    const taken = await this.billed.discountsTaken(
      requests.flatMap(({ subscriptionId, billingPeriod: period }) =>
        subscriptionId === null || period === null ? [] : [{ subscriptionId, period }],
      ),
    );
    return new Map(taken.map((one) => [one.redemptionId, one]));
  }
}

/** Returns the ids of the redemptions to which a credit or a correction may return a discount. */
function redemptionIdsOf({
  request: { returnsTo = [] },
  corrected,
}: Crediting<CouponRequest>): readonly string[] {
  const shares = corrected.flatMap(({ discountShares }) => discountShares);
  return [...new Set([...returnsTo, ...shares.map(({ redemptionId }) => redemptionId)])];
}

/**
 * Sorts coupons by redemption id, so that coupons redeemed at the same time always apply in the same order. Leaves out
 * percentage coupons with duration `once` that were used in another billing period. A discount that is returned to such
 * a coupon can be used again only in the period in which it was given.
 */
function inPeriod(
  terms: readonly RedeemedTerms[],
  taken: ReadonlyMap<string, TakenDiscount>,
): RedeemedTerms[] {
  return terms
    .filter((one) => !isUsedPercentage(one) || taken.get(one.redemption.id)?.isDiscounted === true)
    .sort((one, other) => (one.redemption.id < other.redemption.id ? -1 : 1));
}

export function hasAmountPerPeriod({ coupon }: Pick<RedeemedTerms, 'coupon'>): boolean {
  return coupon.duration !== 'once' && coupon.amountOff !== null;
}
