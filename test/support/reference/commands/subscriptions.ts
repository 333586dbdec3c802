import fc from 'fast-check';
import { ADDONS, COUPONS, GIFTED, PLANS, USAGE_ALONE } from '../catalog';
import type { Reference } from '../model';
import type { Terms, TermsChange } from '../offers';
import type { ReferenceSubscription } from '../subscription';
import { advanceTo } from './advance';
import type { BillingCommand, EngineUnderTest } from './engine';

const MAX_SUBSCRIPTIONS = 2;

type Addons = Terms['addons'];

async function addonsFor({ catalog }: EngineUnderTest, addons: Addons): Promise<readonly object[]> {
  const named: object[] = [];
  for (const { addon, quantity } of addons) {
    named.push({ addon_id: await catalog.addonId(addon), quantity: String(quantity) });
  }
  return named;
}

function nameOf(addons: Addons): string {
  const named = addons.map(({ addon, quantity }) => `${ADDONS[addon]?.name ?? ''} x ${quantity}`);
  return `with ${named.length === 0 ? 'nothing' : named.join(' and ')}`;
}

type Request = readonly [command: string, body: object];

/** A command for one of the subscriptions. */
abstract class OnSubscription implements BillingCommand {
  constructor(private readonly pick: number) {}

  check(model: Readonly<Reference>): boolean {
    return model.subscriptions.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const subscription = this.of(model);
    const isLate = model.catchUp(subscription);
    const refusal = this.expected(model, subscription);
    const [command, body] = await this.request(model, subscription, engine);
    const path = `/v1/subscriptions/${engine.subscriptionIds[subscription.index] ?? ''}/${command}`;
    const answer = await engine.post(path, body);
    const expected =
      refusal === null
        ? { id: engine.subscriptionIds[subscription.index], status: subscription.status }
        : { code: refusal };
    expect({ command, ...answer.body }).toMatchObject(expected);
    // A refused command does not run due work either.
    if (isLate && refusal !== null) await advanceTo(model.now + 1_000, model, engine);
  }

  protected of(model: Readonly<Reference>): ReferenceSubscription {
    return model.subscription(this.pick % model.subscriptions.length);
  }

  /** Applies the command to the reference; returns the code of the refusal, if any. */
  protected abstract expected(model: Reference, subscription: ReferenceSubscription): string | null;

  /** Called after `expected`. The request must not depend on what `expected` changed. */
  protected abstract request(
    model: Reference,
    subscription: ReferenceSubscription,
    engine: EngineUnderTest,
  ): Request | Promise<Request>;

  protected at(): string {
    return `#${this.pick % MAX_SUBSCRIPTIONS}`;
  }
}

class Subscribe implements BillingCommand {
  constructor(
    private readonly pick: PlanPick,
    private readonly quantity: number,
    private readonly addons: Addons,
    private readonly trialDays: number,
    private readonly minutesAgo: number,
    private readonly coupon: number | null,
    private readonly mode: 'anniversary' | 'calendar',
    private readonly waits: boolean,
  ) {}

  check({ subscriptions }: Readonly<Reference>): boolean {
    return subscriptions.length < MAX_SUBSCRIPTIONS;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { quantity, addons, trialDays, minutesAgo, mode, waits } = this;
    const plan = planPicked(model, this.pick, 0);
    const coupon = couponFor(this.coupon, plan);
    const from = model.now - minutesAgo * 60_000;
    const terms = model.offers.forNew({ plan, quantity, addons });
    if (typeof terms !== 'string') {
      model.subscribe(terms, from, mode, trialDays, coupon, waits);
    }
    const { status, body } = await engine.post('/v1/subscriptions', {
      customer_id: engine.customerId,
      plan_id: await engine.catalog.planId(plan),
      quantity: String(quantity),
      addons: await addonsFor(engine, addons),
      trial_days: trialDays,
      ...(minutesAgo === 0 ? {} : { start_at: new Date(from).toISOString() }),
      billing_anchor: mode,
      payment_behavior: waits ? 'default_incomplete' : 'allow_active',
      ...(coupon === null ? {} : { coupon: await engine.catalog.couponCode(coupon) }),
    });
    if (typeof terms === 'string') {
      expect({ status, body }).toMatchObject({ status: 422, body: { code: terms } });
      return;
    }
    expect({ status, body }).toMatchObject({ status: 201 });
    engine.subscriptionIds.push((body as { id: string }).id);
  }

  toString(): string {
    const { pick, quantity, addons, trialDays, minutesAgo, coupon, mode, waits } = this;
    const sold = `${planName(pick)} x ${quantity} ${nameOf(addons)}`;
    const redeemed = coupon === null ? '' : `, coupon ${COUPONS[coupon]?.name ?? ''}`;
    const since = minutesAgo === 0 ? '' : `, ${minutesAgo} min ago`;
    return `subscribe(${sold}, trial ${trialDays}${since}, ${mode}${redeemed}${waits ? ', waits' : ''})`;
  }
}

/** A plan: an index, the present plan of the subscription, or an archived plan. */
type PlanPick = number | 'own' | 'archived';

/** A version of a plan. A number selects one of the versions that exist when the command runs. */
type VersionPick = 'current' | 'latest' | number;

function planPicked({ offers }: Reference, pick: PlanPick, own: number): number {
  if (pick === 'archived') return [...offers.archivedPlans][0] ?? own;
  return pick === 'own' ? own : pick;
}

function planName(pick: PlanPick): string {
  return typeof pick === 'number' ? (PLANS[pick]?.name ?? '') : `${pick} plan`;
}

/** Returns the coupon if it applies to the plan, otherwise null. */
function couponFor(coupon: number | null, plan: number): number | null {
  const only = coupon === null ? undefined : COUPONS[coupon]?.plan;
  return only === undefined || only === plan ? coupon : null;
}

class Change extends OnSubscription {
  constructor(
    pick: number,
    private readonly plan: PlanPick | null,
    private readonly version: VersionPick | null,
    private readonly quantity: number | null,
    private readonly addons: Addons | null,
    private readonly when: 'now' | 'period_end',
    /** Null: the proration of the plan. */
    private readonly proration: 'prorate' | 'none' | null,
  ) {
    super(pick);
  }

  protected expected(model: Reference, subscription: ReferenceSubscription): string | null {
    const { quantity, addons, when, proration } = this;
    const change = { ...this.target(model, subscription), quantity, addons };
    return model.change(subscription, change, when, proration);
  }

  protected async request(
    model: Reference,
    subscription: ReferenceSubscription,
    engine: EngineUnderTest,
  ) {
    const { quantity, addons, when, proration } = this;
    const { plan, version } = this.target(model, subscription);
    const body = {
      when,
      ...(plan === null ? {} : { plan_id: await engine.catalog.planId(plan) }),
      ...(version === null ? {} : { plan_version: await engine.catalog.planVersion(version) }),
      ...(quantity === null ? {} : { quantity: String(quantity) }),
      ...(addons === null ? {} : { addons: await addonsFor(engine, addons) }),
      ...(proration === null ? {} : { proration }),
    };
    return ['change', body] as const;
  }

  /**
   * Returns the plan and version of the request. The result is the same before and after `expected`, because a change
   * that names no plan keeps the plan.
   */
  private target(
    model: Reference,
    { terms }: ReferenceSubscription,
  ): Pick<TermsChange, 'plan' | 'version'> {
    const own = terms.version.plan;
    const plan = this.plan === null ? null : planPicked(model, this.plan, own);
    const { version } = this;
    if (typeof version !== 'number') return { plan, version };
    const versions = model.offers.versionsOf(plan ?? own);
    return { plan, version: versions[version % versions.length] ?? null };
  }

  override toString(): string {
    const { plan, version, quantity, addons, when, proration } = this;
    const to = [
      plan === null ? [] : planName(plan),
      version === null ? [] : `version ${version}`,
      quantity === null ? [] : `x ${quantity}`,
      addons === null ? [] : nameOf(addons),
    ].flat();
    return `change(${this.at()} to ${to.join(' ')}, ${when}, ${proration ?? 'as the plan says'})`;
  }
}

class Cancel extends OnSubscription {
  constructor(
    pick: number,
    private readonly when: 'now' | 'period_end' | 'at',
    private readonly credits: boolean,
    private readonly inMinutes: number,
  ) {
    super(pick);
  }

  protected expected(model: Reference, subscription: ReferenceSubscription): string | null {
    const when = this.when === 'at' ? this.instant(model) : this.when;
    return model.cancel(subscription, when, this.credits);
  }

  protected request(model: Reference) {
    const { when, credits } = this;
    const at = when === 'at' ? { at: new Date(this.instant(model)).toISOString() } : {};
    return ['cancel', { when, credit_unused: credits, ...at }] as const;
  }

  private instant({ now }: Reference): number {
    return now + this.inMinutes * 60_000;
  }

  override toString(): string {
    const when = this.when === 'at' ? `in ${this.inMinutes} min` : this.when;
    return `cancel(${this.at()}, ${when}${this.credits ? ', credit' : ''})`;
  }
}

class Plain extends OnSubscription {
  constructor(
    pick: number,
    private readonly command: 'uncancel' | 'pause' | 'resume',
  ) {
    super(pick);
  }

  protected expected(model: Reference, subscription: ReferenceSubscription): string | null {
    return model[this.command](subscription);
  }

  protected request() {
    return [this.command, {}] as const;
  }

  override toString(): string {
    return `${this.command}(${this.at()})`;
  }
}

class Redeem extends OnSubscription {
  constructor(
    pick: number,
    private readonly coupon: number,
  ) {
    super(pick);
  }

  protected expected(model: Reference, subscription: ReferenceSubscription): string | null {
    return model.redeem(subscription, this.coupon);
  }

  protected async request(_model: Reference, _of: ReferenceSubscription, engine: EngineUnderTest) {
    return ['coupons', { code: await engine.catalog.couponCode(this.coupon) }] as const;
  }

  override toString(): string {
    return `redeem(${this.at()}, ${COUPONS[this.coupon]?.name ?? ''})`;
  }
}

/** Removes one of the coupons of a subscription, ended or not. */
class RemoveCoupon implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly which: number,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return model.subscriptions.length > 0 && this.of(model).redemptions.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const subscription = this.of(model);
    model.catchUp(subscription);
    const { length } = subscription.redemptions;
    const place = this.which % length;
    model.removeCoupon(subscription, place);
    const path = `/v1/subscriptions/${engine.subscriptionIds[subscription.index] ?? ''}/coupons`;
    const { data } = (await engine.get(path)) as { data: readonly { readonly id: string }[] };
    expect(data).toHaveLength(length);
    const id = data[length - 1 - place]?.id ?? '';
    expect(await engine.remove(`${path}/${id}`)).toMatchObject({ status: 204 });
  }

  private of(model: Readonly<Reference>): ReferenceSubscription {
    return model.subscription(this.pick % model.subscriptions.length);
  }

  toString(): string {
    return `remove coupon(#${this.pick}, ${this.which})`;
  }
}

const pick = fc.nat({ max: MAX_SUBSCRIPTIONS - 1 });
const metered = PLANS.flatMap(({ prices }, index) =>
  prices.some(({ isMetered }) => isMetered) ? [index] : [],
);
const anyPlan = fc.nat({ max: PLANS.length - 1 });
/** Generates plans, mostly metered ones, so that usage is billed and then corrected by late usage. */
const plan = fc.oneof(anyPlan, anyPlan, fc.constantFrom(...metered));
/** Generates plans, sometimes an archived one, which is refused. */
const offeredPlan: fc.Arbitrary<PlanPick> = fc.oneof(
  { weight: 12, arbitrary: plan },
  { weight: 1, arbitrary: fc.constant('archived' as const) },
);
const changedPlan: fc.Arbitrary<PlanPick> = fc.oneof(
  { weight: 3, arbitrary: offeredPlan },
  { weight: 1, arbitrary: fc.constant('own' as const) },
);
const version: fc.Arbitrary<VersionPick> = fc.oneof(
  fc.constantFrom('latest' as const, 'latest' as const, 'current' as const),
  fc.nat({ max: 3 }),
);
const coupon = fc.nat({ max: COUPONS.length - 1 });
const quantity = fc.integer({ min: 1, max: 12 });

/** Quantity of each add-on: mostly none. */
const addons: fc.Arbitrary<Addons> = fc
  .tuple(...ADDONS.map(() => fc.constantFrom(0, 0, 1, 3)))
  .map((quantities) =>
    quantities.flatMap((count, addon) => (count === 0 ? [] : [{ addon, quantity: count }])),
  );

/** Generates the minutes since the start. Most subscriptions start now, and some in the past, so that a few periods are over. */
const minutesAgo = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 * 24 * 2 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 * 24 * 70 }) },
);

export const subscribe = fc
  .tuple(
    offeredPlan,
    quantity,
    addons,
    fc.constantFrom(0, 0, 0, 0, 0, 0, 2, 3, 7, 30),
    minutesAgo,
    fc.option(coupon),
    fc.constantFrom('anniversary' as const, 'anniversary' as const, 'calendar' as const),
    fc.nat({ max: 5 }).map((chance) => chance === 0),
  )
  .map((terms) => new Subscribe(...terms));

/** Starts a metered plan now. */
export const subscribeMetered = fc
  .tuple(fc.constantFrom(...metered), quantity, fc.option(coupon))
  .map(([one, units, code]) => new Subscribe(one, units, [], 0, 0, code, 'anniversary', false));

/** Starts the plan that bills usage alone, with a coupon. The first bills are mostly without usage. */
export const subscribeUsage = fc
  .tuple(coupon, minutesAgo)
  .map(([code, ago]) => new Subscribe(USAGE_ALONE, 1, [], 0, ago, code, 'anniversary', false));

export const change = fc
  .tuple(
    pick,
    // A change without a plan keeps the version, even if another version has become active.
    fc.option(changedPlan, { freq: 2 }),
    fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: version }),
    fc.option(quantity, { freq: 2 }),
    fc.option(addons, { freq: 1 }),
    fc.constantFrom('now' as const, 'now' as const, 'now' as const, 'period_end' as const),
    fc.constantFrom(null, null, null, 'none' as const, 'prorate' as const),
  )
  .map((terms) => new Change(...terms));

/** Starts a plan with an amount off its many seats, and nothing else. */
export const subscribeGifted = fc
  .integer({ min: 8, max: 30 })
  .map((seats) => new Subscribe(GIFTED.plan, seats, [], 0, 0, GIFTED.coupon, 'anniversary', false));

/** Changes to few seats, with an add-on that costs more than the credit for the others and is not discounted. */
export const changeGifted = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 200, max: 300 }))
  .map(
    ([seats, units]) =>
      new Change(0, null, null, seats, [{ addon: 0, quantity: units }], 'now', null),
  );

export const cancel = fc
  .tuple(
    pick,
    fc.constantFrom('now' as const, 'period_end' as const, 'at' as const),
    fc.boolean(),
    fc.integer({ min: 1, max: 60 * 24 * 45 }),
  )
  .map((terms) => new Cancel(...terms));

export const cancelWithCredit = pick.map((one) => new Cancel(one, 'now', true, 0));

export const plain = fc
  .tuple(pick, fc.constantFrom('uncancel' as const, 'pause' as const, 'resume' as const))
  .map((terms) => new Plain(...terms));

export const pause = pick.map((one) => new Plain(one, 'pause'));
export const resume = pick.map((one) => new Plain(one, 'resume'));

export const redeem = fc.tuple(pick, coupon).map((terms) => new Redeem(...terms));

export const removeCoupon = fc
  .tuple(pick, fc.nat({ max: COUPONS.length - 1 }))
  .map((terms) => new RemoveCoupon(...terms));
