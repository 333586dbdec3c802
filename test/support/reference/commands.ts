import fc from 'fast-check';
import { ADDONS, COUPONS, METER, PLANS } from './catalog';
import type { Card } from './collection';
import type { Terms } from './items';
import type { Reference } from './model';
import type { ReferenceSubscription } from './subscription';

/** The engine, as a sequence of commands sees it: one customer on a test clock of its own. */
export interface EngineUnderTest {
  /** Of the subscriptions, in the order of the reference. */
  readonly subscriptionIds: string[];
  readonly customerId: string;
  readonly clockId: string;
  readonly meterId: string;
  /** In the customer's currency. */
  planId(plan: number): string;
  addonId(addon: number): string;
  couponCode(coupon: number): string;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: object }>;
  /** The id of an invoice, by its place among all, oldest first. */
  invoiceId(place: number): Promise<string>;
}

export type BillingCommand = fc.AsyncCommand<Reference, EngineUnderTest>;

const MOST_SUBSCRIPTIONS = 2;

type Addons = Terms['addons'];

function addonsFor(engine: EngineUnderTest, addons: Addons): readonly object[] {
  return addons.map(({ addon, quantity }) => ({
    addon_id: engine.addonId(addon),
    quantity: String(quantity),
  }));
}

function nameOf(addons: Addons): string {
  const named = addons.map(({ addon, quantity }) => `${ADDONS[addon]?.name ?? ''} x ${quantity}`);
  return `with ${named.length === 0 ? 'nothing' : named.join(' and ')}`;
}

/** Something done to one subscription, whichever there are. */
abstract class OnSubscription implements BillingCommand {
  constructor(private readonly pick: number) {}

  check(model: Readonly<Reference>): boolean {
    return model.subscriptions.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const subscription = this.of(model);
    const refusal = this.expected(model, subscription);
    const [command, body] = this.request(model, subscription, engine);
    const path = `/v1/subscriptions/${engine.subscriptionIds[subscription.index] ?? ''}/${command}`;
    const answer = await engine.post(path, body);
    const expected =
      refusal === null
        ? { id: engine.subscriptionIds[subscription.index], status: subscription.status }
        : { code: refusal };
    expect({ command, ...answer.body }).toMatchObject(expected);
  }

  protected of(model: Readonly<Reference>): ReferenceSubscription {
    return model.subscription(this.pick % model.subscriptions.length);
  }

  /** Does it to the reference; returns the code of the refusal, if there is one. */
  protected abstract expected(model: Reference, subscription: ReferenceSubscription): string | null;

  /** Called after `expected`: nothing in it may depend on what that changed. */
  protected abstract request(
    model: Reference,
    subscription: ReferenceSubscription,
    engine: EngineUnderTest,
  ): readonly [command: string, body: object];

  protected at(): string {
    return `#${this.pick % MOST_SUBSCRIPTIONS}`;
  }
}

class Subscribe implements BillingCommand {
  constructor(
    private readonly plan: number,
    private readonly quantity: number,
    private readonly addons: Addons,
    private readonly trialDays: number,
    private readonly coupon: number | null,
    private readonly mode: 'anniversary' | 'calendar',
  ) {}

  check({ subscriptions }: Readonly<Reference>): boolean {
    return subscriptions.length < MOST_SUBSCRIPTIONS;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { plan, quantity, addons, trialDays, coupon, mode } = this;
    model.subscribe({ plan, quantity, addons }, mode, trialDays, coupon);
    const { status, body } = await engine.post('/v1/subscriptions', {
      customer_id: engine.customerId,
      plan_id: engine.planId(plan),
      quantity: String(quantity),
      addons: addonsFor(engine, addons),
      trial_days: trialDays,
      billing_anchor: mode,
      ...(coupon === null ? {} : { coupon: engine.couponCode(coupon) }),
    });
    expect({ status, body }).toMatchObject({ status: 201 });
    engine.subscriptionIds.push((body as { id: string }).id);
  }

  toString(): string {
    const { plan, quantity, addons, trialDays, coupon, mode } = this;
    const sold = `${PLANS[plan]?.name ?? ''} x ${quantity} ${nameOf(addons)}`;
    const redeemed = coupon === null ? '' : `, coupon ${COUPONS[coupon]?.name ?? ''}`;
    return `subscribe(${sold}, trial ${trialDays}, ${mode}${redeemed})`;
  }
}

class Change extends OnSubscription {
  constructor(
    pick: number,
    private readonly plan: number | null,
    private readonly quantity: number | null,
    private readonly addons: Addons | null,
    private readonly when: 'now' | 'period_end',
    /** Null: as the plan says. */
    private readonly proration: 'prorate' | 'none' | null,
  ) {
    super(pick);
  }

  protected expected(model: Reference, subscription: ReferenceSubscription): string | null {
    const { terms } = subscription;
    const changed = {
      plan: this.plan ?? terms.plan,
      quantity: this.quantity ?? terms.quantity,
      addons: this.addons ?? terms.addons,
    };
    const prorates =
      this.proration === null
        ? PLANS[changed.plan]?.proration !== 'none'
        : this.proration === 'prorate';
    return model.change(subscription, changed, this.when, prorates);
  }

  protected request(_model: Reference, _of: ReferenceSubscription, engine: EngineUnderTest) {
    const { plan, quantity, addons, when, proration } = this;
    const body = {
      when,
      ...(plan === null ? {} : { plan_id: engine.planId(plan) }),
      ...(quantity === null ? {} : { quantity: String(quantity) }),
      ...(addons === null ? {} : { addons: addonsFor(engine, addons) }),
      ...(proration === null ? {} : { proration }),
    };
    return ['change', body] as const;
  }

  override toString(): string {
    const { plan, quantity, addons, when, proration } = this;
    const to = [
      plan === null ? [] : (PLANS[plan]?.name ?? ''),
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

  protected request(_model: Reference, _of: ReferenceSubscription, engine: EngineUnderTest) {
    return ['coupons', { code: engine.couponCode(this.coupon) }] as const;
  }

  override toString(): string {
    return `redeem(${this.at()}, ${COUPONS[this.coupon]?.name ?? ''})`;
  }
}

/** Another default payment method. */
class TakeCard implements BillingCommand {
  constructor(private readonly card: Card) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    model.collection.take(this.card, model.now);
    const path = `/v1/customers/${engine.customerId}/payment-methods`;
    const method = { provider: 'sandbox', token: TOKENS[this.card], is_default: true };
    expect(await engine.post(path, method)).toMatchObject({ status: 201 });
  }

  toString(): string {
    return `a ${this.card} card`;
  }
}

/** Pays an open invoice by hand, or tries to. */
class Pay implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly card: Card,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    model.collection.pay(model.invoice(place), this.card, model.now);
    const method = { payment_method_id: TOKENS[this.card] };
    const answer = await engine.post(`/v1/invoices/${id}/pay`, method);
    const status = this.card === 'good' ? 'succeeded' : 'failed';
    expect(answer).toMatchObject({ status: 201, body: { invoice_id: id, status } });
  }

  private place({ invoices }: Readonly<Reference>): number | null {
    const open = invoices.flatMap(({ status }, place) => (status === 'open' ? [place] : []));
    return open[this.pick % Math.max(1, open.length)] ?? null;
  }

  toString(): string {
    return `pay(${this.pick}, with a ${this.card} card)`;
  }
}

const TOKENS = { good: 'pm_sandbox_ok', bad: 'pm_sandbox_declined' } as const;

/** Voids an open invoice, or issues one anew that is void. */
class OnInvoice implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly command: 'void' | 'reissue',
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    const refusal = model[this.command](place);
    const answer = await engine.post(`/v1/invoices/${id}/${this.command}`, {});
    const made = this.command === 'void' ? { id, status: 'void' } : { reissue_of: id };
    expect({ command: this.command, ...answer.body }).toMatchObject(
      refusal === null ? made : { code: refusal },
    );
  }

  private place({ invoices }: Readonly<Reference>): number | null {
    const fits = invoices.flatMap(({ status, isReissued }, place) =>
      status === (this.command === 'void' ? 'open' : 'void') && !isReissued ? [place] : [],
    );
    return fits[this.pick % Math.max(1, fits.length)] ?? null;
  }

  toString(): string {
    return `${this.command}(${this.pick})`;
  }
}

interface Reported {
  readonly tenths: number;
  /** Ago, or to come where that is negative. */
  readonly seconds: number;
}

/** Reports usage, a few events in one request. */
class Report implements BillingCommand {
  constructor(private readonly reported: readonly Reported[]) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const events = this.reported.map(({ tenths, seconds }) => {
      const at = model.now - seconds * 1_000;
      model.usage.report(at, BigInt(tenths));
      return {
        idempotency_key: usageKey(engine, model.usage.events.length - 1),
        customer_id: engine.customerId,
        event_name: METER.eventName,
        timestamp: new Date(at).toISOString(),
        properties: { [METER.valueProperty]: tenths / 10 },
      };
    });
    const answer = await engine.post('/v1/usage-events', { events });
    expect(answer.body).toEqual({ accepted: events.length, duplicates: 0, rejected: [] });
  }

  toString(): string {
    const told = this.reported.map(({ tenths, seconds }) => `${tenths / 10}, ${seconds} s ago`);
    return `report(${told.join('; ')})`;
  }
}

class VoidUsage implements BillingCommand {
  constructor(private readonly pick: number) {}

  check({ usage }: Readonly<Reference>): boolean {
    return usage.events.length > 0;
  }

  async run({ usage }: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.pick % usage.events.length;
    const event = usage.events[place];
    if (event !== undefined) usage.void(event);
    const key = usageKey(engine, place);
    const answer = await engine.post('/v1/usage-events/void', { idempotency_key: key });
    expect(answer).toMatchObject({ status: 200, body: { idempotency_key: key } });
  }

  toString(): string {
    return `void usage(${this.pick})`;
  }
}

function usageKey({ customerId }: EngineUnderTest, place: number): string {
  return `${customerId}-${place}`;
}

/** Moves the clock by seconds, or to what falls due next: a second short of it, onto it or past it. */
class Advance implements BillingCommand {
  constructor(
    private readonly seconds: number,
    private readonly aim: 'by' | 'due',
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.target(model) > model.now;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const to = this.target(model);
    model.advance(to);
    const path = `/v1/test-clocks/${engine.clockId}/advance`;
    const answer = await engine.post(path, { to: new Date(to).toISOString() });
    expect(answer).toMatchObject({ status: 200 });
  }

  private target(model: Readonly<Reference>): number {
    const from = this.aim === 'by' ? model.now : (model.nextDue() ?? model.now);
    return from + this.seconds * 1_000;
  }

  toString(): string {
    return `advance(${this.aim === 'by' ? 'by' : 'to what is due and'} ${this.seconds} s)`;
  }
}

const HOUR_S = 3_600;
const pick = fc.nat({ max: MOST_SUBSCRIPTIONS - 1 });
const metered = PLANS.flatMap(({ prices }, index) =>
  prices.some(({ isMetered }) => isMetered) ? [index] : [],
);
const anyPlan = fc.nat({ max: PLANS.length - 1 });
/** Usage has to be billed now and then to come late. */
const plan = fc.oneof(anyPlan, anyPlan, fc.constantFrom(...metered));
const coupon = fc.nat({ max: COUPONS.length - 1 });
const quantity = fc.integer({ min: 1, max: 12 });

/** How many of each add-on: most often none. */
const addons: fc.Arbitrary<Addons> = fc
  .tuple(...ADDONS.map(() => fc.constantFrom(0, 0, 1, 3)))
  .map((quantities) =>
    quantities.flatMap((count, addon) => (count === 0 ? [] : [{ addon, quantity: count }])),
  );

const subscribe = fc
  .tuple(
    plan,
    quantity,
    addons,
    fc.constantFrom(0, 0, 0, 0, 2, 3, 7, 30),
    fc.option(coupon),
    fc.constantFrom('anniversary' as const, 'anniversary' as const, 'calendar' as const),
  )
  .map((terms) => new Subscribe(...terms));

const change = fc
  .tuple(
    pick,
    fc.option(plan),
    fc.option(quantity),
    fc.option(addons, { freq: 2 }),
    fc.constantFrom('now' as const, 'now' as const, 'period_end' as const),
    fc.constantFrom(null, null, null, 'none' as const, 'prorate' as const),
  )
  .map((terms) => new Change(...terms));

const cancel = fc
  .tuple(
    pick,
    fc.constantFrom('now' as const, 'period_end' as const, 'at' as const),
    fc.boolean(),
    fc.integer({ min: 1, max: 60 * 24 * 45 }),
  )
  .map((terms) => new Cancel(...terms));

const plain = fc
  .tuple(pick, fc.constantFrom('uncancel' as const, 'pause' as const, 'resume' as const))
  .map((terms) => new Plain(...terms));

const redeem = fc.tuple(pick, coupon).map((terms) => new Redeem(...terms));

const onInvoice = fc
  .tuple(fc.nat({ max: 20 }), fc.constantFrom('void' as const, 'reissue' as const))
  .map((terms) => new OnInvoice(...terms));

/** Of today, of the weeks before, and a little of what is to come. */
const seconds = fc.oneof(
  fc.integer({ min: 0, max: 24 * HOUR_S }),
  fc.integer({ min: 0, max: 35 * 24 * HOUR_S }),
  fc.integer({ min: -12 * HOUR_S, max: 0 }),
);

const report = fc
  .array(fc.record({ tenths: fc.integer({ min: 1, max: 400 }), seconds }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((reported) => new Report(reported));

const voidUsage = fc.nat({ max: 20 }).map((place) => new VoidUsage(place));

const card = fc.constantFrom('good' as const, 'bad' as const, 'bad' as const);
const takeCard = card.map((one) => new TakeCard(one));
const pay = fc.tuple(fc.nat({ max: 20 }), card).map((terms) => new Pay(...terms));

const by = (most: number): fc.Arbitrary<BillingCommand> =>
  fc.integer({ min: 1, max: most }).map((seconds) => new Advance(seconds, 'by'));

const advance = fc.oneof(
  by(12 * HOUR_S),
  by(40 * 24 * HOUR_S),
  fc.integer({ min: -1, max: 1 }).map((seconds) => new Advance(seconds, 'due')),
);

/** What every sequence begins with, for without a subscription nothing happens. */
export const firstCommand: fc.Arbitrary<BillingCommand> = subscribe;

export function billingCommands(most: number): fc.Arbitrary<Iterable<BillingCommand>> {
  const changes = [subscribe, change, change, change, change, cancel, plain, plain, redeem];
  const usage = [report, report, report, voidUsage, voidUsage];
  const any = [...changes, ...usage, onInvoice, onInvoice, takeCard, pay];
  const moves = [advance, advance, advance, advance];
  return fc.commands([...any, ...moves], { maxCommands: most, size: 'max' });
}
