import {
  ADDONS,
  COUPONS,
  METER,
  type ModelCurrency,
  type ModelPlan,
  type ModelPrice,
  PLANS,
  TAX_RATES,
} from './catalog';
import type { PlanVersion } from './offers';

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export type Post = (path: string, body: object) => Promise<Answer>;

interface Created {
  readonly id: string;
  readonly code: string;
  /** The first version of a plan. */
  readonly version_id?: string;
}

export async function create(post: Post, path: string, body: object): Promise<Created> {
  const answer = await post(path, body);
  expect({ path, ...answer }).toMatchObject({ status: 201 });
  return answer.body as Created;
}

/** Ids of the meters of the model. */
export interface MeterIds {
  readonly sum: string;
  /** Meter of the prices whose quantity is a weighted sum. */
  readonly held: string;
}

export async function createMeters(post: Post): Promise<MeterIds> {
  const { key, eventName: event_name, valueProperty: value_property, groupBy } = METER;
  const meter = { key, event_name, aggregation: 'sum', value_property, group_by: [groupBy] };
  const held = { ...meter, key: `${key}_held`, aggregation: 'weighted_sum' };
  return {
    sum: (await create(post, '/v1/meters', meter)).id,
    held: (await create(post, '/v1/meters', held)).id,
  };
}

/** The catalogue of one sequence in the engine. Each part is created when a command first needs it. */
export class EngineCatalog {
  private readonly created = new Map<string, Created>();
  private readonly versionIds = new Map<string, string>();

  /** @param name unique among sequences */
  constructor(
    private readonly name: string,
    private readonly currency: ModelCurrency,
    private readonly meterIds: MeterIds,
    private readonly post: Post,
  ) {}

  async planId(plan: number): Promise<string> {
    return (await this.plan(plan)).id;
  }

  private async planVersionId({ plan, number }: PlanVersion): Promise<string> {
    const first = await this.plan(plan);
    return this.versionIds.get(`${plan} ${number}`) ?? first.version_id ?? '';
  }

  /** Returns the value of `plan_version` in a request. */
  async planVersion(version: 'current' | 'latest' | PlanVersion): Promise<string> {
    return typeof version === 'string' ? version : this.planVersionId(version);
  }

  /** Activates the next version of a plan. */
  async activate(
    plan: number,
    prices: readonly ModelPrice[],
    terms: Partial<Pick<ModelPlan, 'interval' | 'proration'>>,
  ): Promise<Answer> {
    const path = `${await this.pathOfPlan(plan)}/versions`;
    const answer = await this.post(path, { ...terms, prices: this.termsOf(prices) });
    const { id = '', version = 0 } = answer.body as { id?: string; version?: number };
    this.versionIds.set(`${plan} ${version}`, id);
    return answer;
  }

  async addonId(addon: number): Promise<string> {
    return (await this.addon(addon)).id;
  }

  async pathOfPlan(plan: number): Promise<string> {
    // Creates the coupons of the plan before, because an archived plan is refused.
    for (const [coupon, terms] of COUPONS.entries()) {
      if (terms.plan === plan) await this.coupon(coupon);
    }
    return `/v1/plans/${await this.planId(plan)}`;
  }

  async pathOfAddon(addon: number): Promise<string> {
    return `/v1/addons/${await this.addonId(addon)}`;
  }

  async couponCode(coupon: number): Promise<string> {
    return (await this.coupon(coupon)).code;
  }

  async taxRateIds(rates: readonly number[]): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const rate of rates) ids.push(await this.taxRateId(rate));
    return ids;
  }

  async taxRateId(rate: number): Promise<string> {
    const terms = TAX_RATES[rate];
    return (await this.once('/v1/tax-rates', rate, { name: 'Tax', ...terms })).id;
  }

  private plan(plan: number): Promise<Created> {
    const { name = '', interval, proration, prices = [] } = PLANS[plan] ?? {};
    const terms = { ...this.sold(name), interval, proration, prices: this.termsOf(prices) };
    return this.once('/v1/plans', plan, terms);
  }

  private addon(addon: number): Promise<Created> {
    const { name = '', prices = [] } = ADDONS[addon] ?? {};
    return this.once('/v1/addons', addon, { ...this.sold(name), prices: this.termsOf(prices) });
  }

  private async coupon(coupon: number): Promise<Created> {
    const { duration, months, percentOff, amountOff, plan } = COUPONS[coupon] ?? {};
    return this.once('/v1/coupons', coupon, {
      duration,
      ...(plan === undefined ? {} : { plan_ids: [await this.planId(plan)] }),
      ...(months === undefined ? {} : { duration_in_months: months }),
      ...(percentOff === undefined
        ? { type: 'amount', amount_off: Number(amountOff), currency: this.currency }
        : { type: 'percent', percent_off: percentOff }),
    });
  }

  private sold(name: string): object {
    return { code: `${name}-${this.name}`, name, currency: this.currency };
  }

  private termsOf(prices: readonly ModelPrice[]): readonly object[] {
    return prices.map((price) => priceTerms(price, this.meterIds));
  }

  private async once(path: string, index: number, body: object): Promise<Created> {
    const key = `${path} ${index}`;
    const made = this.created.get(key) ?? (await create(this.post, path, body));
    this.created.set(key, made);
    return made;
  }
}

function priceTerms(price: ModelPrice, meterIds: MeterIds): object {
  const { name, model, timing, isMetered, isHeld, isByGroup, minimum, maximum } = price;
  return {
    name,
    model,
    timing,
    ...(isMetered ? { meter_id: isHeld ? meterIds.held : meterIds.sum } : {}),
    ...(isByGroup ? { by_group: true } : {}),
    ...given({ minimum_amount: minimum, maximum_amount: maximum }),
    ...termsOfModel(price),
  };
}

function termsOfModel(price: ModelPrice): object {
  const { model, amount, tiers, isFreeAtZero, packageSize, free } = price;
  const free_units = free === undefined ? {} : { free_units: String(free) };
  switch (model) {
    case 'flat':
      return { amount: Number(amount) };
    case 'per_unit':
      return { unit_amount: amount };
    case 'graduated':
    case 'volume':
      return {
        ...(isFreeAtZero ? { charge_flat_at_zero: false } : {}),
        tiers: tiers?.map(({ upTo, amount: unit_amount, flat }) => ({
          up_to: upTo === null ? null : String(upTo),
          unit_amount,
          flat_amount: Number(flat),
        })),
      };
    case 'package':
      return { unit_amount: amount, package_size: packageSize, ...free_units };
    case 'percentage':
      return {
        rate: amount,
        ...free_units,
        ...given({
          fixed_amount: price.fixed,
          free_amount: price.freeAmount,
          event_minimum_amount: price.eventMinimum,
          event_maximum_amount: price.eventMaximum,
        }),
      };
  }
}

/** Returns the amounts that are set, as numbers. */
function given(amounts: Readonly<Record<string, bigint | undefined>>): object {
  const named = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  return Object.fromEntries(named.map(([name, amount]) => [name, Number(amount)]));
}
