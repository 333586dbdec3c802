import {
  AllowanceModel,
  type ModelLink,
  type ModelSubscription,
  type PlanAllowance,
} from './allowance-model';
import { Allowances } from './allowances';
import { Story, type TestApp } from './story';
import { EVENTS } from './stored-events';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SPANS = [HOUR_MS, 20 * HOUR_MS, 3 * DAY_MS, 9 * DAY_MS, 31 * DAY_MS];
export const ZONES = ['UTC', 'America/New_York', 'Europe/Paris', 'Asia/Kolkata'];
export const PLANS: readonly PlanAllowance[] = [
  { value: 100, isHard: true, reset: 'period' },
  { value: 40, isHard: true, reset: 'period' },
  { value: null, isHard: true, reset: 'period' },
  { value: 20, isHard: false, reset: 'period' },
  { value: 60, isHard: false, reset: 'day' },
  { value: 30, isHard: true, reset: 'never' },
  { value: 50, isHard: true, reset: 'week' },
  { value: 70, isHard: true, reset: 'month' },
  { value: 15, isHard: true, reset: 'day' },
  null,
];
/**
 * Indexes of the plans that do not reset with the period. Their windows start at different instants, so a change between
 * them changes the window.
 */
const ALTERNATING = PLANS.flatMap((plan, index) =>
  plan !== null && plan.reset !== 'period' ? [index] : [],
);
const WITHOUT_ENTITLEMENT = PLANS.indexOf(null);
export const LINKS: readonly ModelLink[] = [
  { mode: 'increment', value: 10 },
  { mode: 'set', value: 25 },
];

interface Step {
  readonly kind: string;
  readonly by: readonly number[];
}

/** One of the two customers, with the ids of its objects. */
interface HistoryCustomer {
  readonly story: Story;
  readonly allowances: Allowances;
  readonly subscriptionIds: string[];
  readonly grantIds: string[];
  readonly eventKeys: string[];
}

/** The plans and add-ons that sell one entitlement. */
export interface EntitlementOffer {
  readonly key: string;
  readonly event: string | null;
  readonly planIds: readonly string[];
  readonly addons: readonly { readonly addonId: string; readonly linkId: string }[];
}

/** Returns the entitlements of a plan as the API accepts them. */
export function planEntitlements(plan: PlanAllowance, id: string): readonly object[] {
  if (plan === null) return [];
  const { value, isHard, reset } = plan;
  const text = value === null ? null : String(value);
  return [{ entitlement_id: id, value: text, is_hard_limit: isHard, reset }];
}

/**
 * Runs the same steps for two customers. Compares the first one with the model after every step, but the second one
 * only at consumptions, at some other changes and at the end.
 */
export class PairedHistory {
  private readonly links = LINKS.map((link) => ({ ...link }));
  private readonly model: AllowanceModel;
  private constructor(
    private readonly offer: EntitlementOffer,
    private readonly checked: HistoryCustomer,
    private readonly unchecked: HistoryCustomer,
    private now: number,
    zone: string,
  ) {
    this.model = new AllowanceModel(offer.event !== null, zone);
  }

  static async begin(
    engine: TestApp,
    offer: EntitlementOffer,
    { now, zone }: { readonly now: number; readonly zone: string },
  ): Promise<PairedHistory> {
    const customers: HistoryCustomer[] = [];
    for (let count = 0; count < 2; count += 1) {
      const story = await Story.begin(engine, new Date(now).toISOString(), { timezone: zone });
      const allowances = new Allowances(engine, story.customerId);
      customers.push({ story, allowances, subscriptionIds: [], grantIds: [], eventKeys: [] });
    }
    const [checked, unchecked] = customers;
    if (checked === undefined || unchecked === undefined) throw new Error('two customers');
    for (const [index, { mode, value }] of LINKS.entries()) {
      const path = `/v1/addon-entitlements/${offer.addons[index]?.linkId ?? ''}`;
      const answer = await engine.http.patch(path).send({ mode, value: String(value) });
      expect(answer.status).toBe(200);
    }
    return new PairedHistory(offer, checked, unchecked, now, zone);
  }

  async run({ kind, by }: Step): Promise<void> {
    const [one = 0, two = 0, three = 0, four = 0] = by;
    if (kind === 'advance') return this.advance(SPANS[one % SPANS.length] ?? HOUR_MS);
    if (kind === 'nextDay') return this.advance(20 * HOUR_MS);
    if (kind === 'consume') return this.consume((one % 160) / 4);
    if (kind === 'report')
      return this.report(this.now + ((two % 68) - 48) * HOUR_MS, (one % 120) / 4);
    if (kind === 'voidEvent') return this.voidEvent(one);
    if (kind === 'grant') return this.grant(one, two, three, four);
    if (kind === 'voidGrant') return this.voidGrant(one);
    if (kind === 'gap') return this.gap(by);
    if (kind === 'voidInPause') return this.voidInPause(by);
    if (kind === 'grantInPause') return this.grantInPause(by);
    if (kind === 'link') await this.link(one, two, three);
    else if (kind === 'alternate') await this.alternate(two);
    else if (kind === 'leave') await this.command('change', 0, WITHOUT_ENTITLEMENT, 0);
    else await this.command(kind, one, two, three);
    await this.syncModel();
  }

  /** Asserts that the balances of the customers are those of the model. */
  async check(customers: readonly HistoryCustomer[] = [this.checked]): Promise<void> {
    for (const { allowances } of customers) {
      expect(await allowances.of(this.offer.key)).toMatchObject(this.model.shown);
      expect(await allowances.grants(this.offer.key)).toEqual(this.model.shownGrants);
    }
  }

  async end(): Promise<void> {
    await this.check([this.checked, this.unchecked]);
    const notified = await this.thresholdsOf(this.checked);
    if (!this.model.hasReturned) expect(new Set(notified).size).toBe(notified.length);
    expect(await this.thresholdsOf(this.unchecked)).toEqual(notified);
  }

  private async advance(ms: number): Promise<void> {
    const to = this.now + ms;
    while (this.now < to) {
      this.now = Math.min(to, this.model.nextBoundary(this.now), await this.nextBilling());
      await this.checked.story.advance(new Date(this.now).toISOString());
      await this.syncModel();
      await this.check();
    }
    await this.unchecked.story.advance(new Date(to).toISOString());
  }

  private async nextBilling(): Promise<number> {
    const due = (await this.subscriptions()).map(({ next_billing_at: at }) => at);
    const instants = due.flatMap((at) => (at === null ? [] : [Date.parse(at)]));
    return Math.min(...instants.filter((at) => at > this.now));
  }

  private async subscriptions() {
    const found = [];
    for (const id of this.checked.subscriptionIds) {
      found.push(await this.checked.story.subscription(id));
    }
    return found;
  }

  /** Passes the subscriptions, as the API shows them, to the model. */
  private async syncModel(): Promise<void> {
    const subscriptions = await this.subscriptions();
    this.model.recalculate(
      this.now,
      subscriptions.map((one) => this.asModel(one)),
    );
  }

  private asModel(one: Awaited<ReturnType<Story['subscription']>>): ModelSubscription {
    const { start_at: startAt, addons } = one as unknown as {
      readonly start_at: string;
      readonly addons: readonly { readonly addon_id: string; readonly quantity: string }[];
    };
    return {
      status: one.status,
      startAt: Date.parse(startAt),
      periodStart: Date.parse(one.current_period_start ?? ''),
      periodEnd: Date.parse(one.current_period_end ?? ''),
      plan: PLANS[this.offer.planIds.indexOf(one.plan_id)] ?? null,
      addons: addons.map(({ addon_id: id, quantity }) => ({
        link: this.links[this.offer.addons.findIndex(({ addonId }) => addonId === id)] ?? null,
        quantity: Number(quantity),
      })),
    };
  }

  private async both(work: (customer: HistoryCustomer) => Promise<unknown>): Promise<void> {
    const answers = [await work(this.checked), await work(this.unchecked)];
    expect(answers[1]).toEqual(answers[0]);
  }

  private async consume(quantity: number): Promise<void> {
    const isAllowed = this.model.consume(quantity, this.now);
    const expected = { allowed: isAllowed, ...this.model.shown };
    await this.both(async ({ allowances }) => {
      const answer = await allowances.consume(this.offer.key, String(quantity));
      expect(answer).toMatchObject(expected);
    });
  }

  private async report(at: number, n: number): Promise<void> {
    const { event } = this.offer;
    if (event === null) return;
    this.model.report(at, n);
    await this.both(async ({ story, eventKeys }) => {
      eventKeys[this.model.events.length - 1] = await story.reportUsage(
        event,
        new Date(at).toISOString(),
        {
          n,
        },
      );
    });
    await this.check();
  }

  private async voidEvent(by: number): Promise<void> {
    const index = by % Math.max(this.model.events.length, 1);
    const event = this.model.events[index];
    // The engine chose the key of a consumption, so its event is not voided here.
    if (event === undefined || this.checked.eventKeys[index] === undefined) return;
    this.model.voidEvent(event);
    await this.both(({ eventKeys }) =>
      this.post('/v1/usage-events/void', { idempotency_key: eventKeys[index] }),
    );
    await this.check();
  }

  private async grant(value: number, priority: number, days: number, rollover: number) {
    const expiresAt = days % 3 === 0 ? this.now + (1 + (days % 40)) * 10 * HOUR_MS : null;
    const max = 5 * (rollover % 9);
    const terms = {
      value: 1 + (value % 200) / 4,
      priority: priority % 3,
      expiresAt,
      rollover: rollover % 2 === 0 ? null : { min: rollover % 7 === 0 ? max / 2 : 0, max },
    };
    this.model.grant(terms, this.now);
    const body = {
      value: String(terms.value),
      priority: terms.priority,
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      rollover:
        terms.rollover === null
          ? null
          : { min: String(terms.rollover.min), max: String(terms.rollover.max) },
    };
    await this.syncModel();
    const [, remaining] = this.model.shownGrants.at(-1) ?? [];
    await this.both(async ({ allowances, grantIds }) => {
      const grant = await allowances.grant(this.offer.key, body);
      grantIds.push(grant.id);
      expect(grant).toMatchObject({ status: 'active', remaining });
    });
    await this.check();
  }

  private async voidGrant(by: number): Promise<void> {
    const index = by % Math.max(this.model.grants.length, 1);
    const grant = this.model.grants[index];
    if (grant === undefined) return;
    const isActive = grant.status === 'active';
    if (isActive) this.model.endGrant(grant, 'voided', this.now);
    await this.syncModel();
    await this.both(async ({ allowances, grantIds }) => {
      const path = `${allowances.path(this.offer.key)}/grants/${grantIds[index] ?? ''}/void`;
      const status = await this.post(path, {});
      expect(status).toBe(isActive || grant.status === 'voided' ? 200 : 409);
    });
    await this.check();
  }

  /** Changes the link between an add-on and the entitlement. The check after it makes the change take effect. */
  private async link(by: number, mode: number, value: number): Promise<void> {
    const index = by % LINKS.length;
    const link = { mode: mode % 2 === 0 ? 'set' : 'increment', value: value % 60 } as const;
    await this.check([this.checked, this.unchecked]);
    const path = `/v1/addon-entitlements/${this.offer.addons[index]?.linkId ?? ''}`;
    const answer = await this.checked.story.engine.http
      .patch(path)
      .send({ mode: link.mode, value: String(link.value) });
    expect(answer.status).toBe(200);
    this.links[index] = link;
    await this.syncModel();
    await this.check([this.checked, this.unchecked]);
  }

  /**
   * Changes the first subscription to a plan with another reset. Without a meter, the balance changes only when it is
   * read next, so both customers are checked.
   */
  private async alternate(by: number): Promise<void> {
    const isMetered = this.offer.event !== null;
    await this.command('change', 0, ALTERNATING[by % ALTERNATING.length] ?? 0, 0);
    await this.check(isMetered ? [this.checked] : [this.checked, this.unchecked]);
  }

  /** Ends the entitlement, reports usage that nothing allows, and returns to a plan that gives it. */
  private async gap(by: readonly number[]): Promise<void> {
    await this.run({ kind: 'leave', by });
    await this.run({ kind: 'advance', by });
    await this.run({ kind: 'report', by });
    await this.run({ kind: 'alternate', by });
  }

  /** Uses a grant that is voided after that. Voids usage while the first subscription is paused. */
  private async voidInPause(by: readonly number[]): Promise<void> {
    await this.run({ kind: 'grant', by });
    for (const n of by.slice(0, 2)) await this.report(this.now, 20 + (n % 120) / 4);
    await this.run({ kind: 'voidGrant', by: [this.model.grants.length - 1] });
    await this.run({ kind: 'pause', by: [0] });
    await this.run({ kind: 'voidEvent', by: [this.model.events.length - 1] });
    await this.run({ kind: 'resume', by: [0] });
  }

  /** Voids usage that may have reached thresholds, before or in a pause in which a grant follows. */
  private async grantInPause(by: readonly number[]): Promise<void> {
    await this.report(this.now, 100);
    const voided = { kind: 'voidEvent', by: [this.model.events.length - 1] };
    const pause = { kind: 'pause', by: [0] };
    for (const step of (by[0] ?? 0) % 2 === 0 ? [voided, pause] : [pause, voided])
      await this.run(step);
    await this.run({ kind: 'grant', by });
    await this.run({ kind: 'nextDay', by });
    await this.run({ kind: 'resume', by: [0] });
  }

  private async command(kind: string, which: number, plan: number, addons: number): Promise<void> {
    const planId = this.offer.planIds[plan % PLANS.length];
    const bought = this.offer.addons
      .filter((_, index) => (addons & (1 << index)) !== 0)
      .map(({ addonId }) => ({ addon_id: addonId, quantity: String(1 + (addons % 3)) }));
    const offer = { plan_id: planId, addons: bought };
    const when = addons % 2 === 0 ? 'now' : 'period_end';
    const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      subscribe: { ...offer, ...(addons % 5 === 0 ? { trial_days: 5 } : {}) },
      change: { ...offer, when },
      cancel: { when },
    };
    await this.both(async ({ story, subscriptionIds }) => {
      if (kind === 'subscribe') {
        if (subscriptionIds.length < 3) {
          const { id } = await story.subscribe(planId ?? '', bodies['subscribe']);
          subscriptionIds.push(id);
        }
        return 201;
      }
      const id = subscriptionIds[which % Math.max(subscriptionIds.length, 1)];
      return id === undefined
        ? 404
        : this.post(`/v1/subscriptions/${id}/${kind}`, bodies[kind] ?? {});
    });
    await this.syncModel();
    await this.check();
  }

  /**
   * Returns the notified thresholds with the start and the end of their windows. The end is needed, because a window
   * that never resets can start at the same instant as one that has ended.
   */
  private async thresholdsOf({ story }: HistoryCustomer): Promise<readonly string[]> {
    const rows = await this.checked.story.engine.database.query<{ notified: string }>(
      `SELECT concat_ws(' ', type, object->>'percent', object->>'period_start', object->>'resets_at') AS notified
      FROM ${EVENTS}, LATERAL (SELECT data->'object' AS object) AS of
      WHERE type LIKE 'entitlement.%reached' AND object->>'customer_id' = $1 ORDER BY id`,
      [story.customerId],
    );
    return rows.map(({ notified }) => notified);
  }

  private async post(path: string, body: object): Promise<number> {
    const { status } = await this.checked.story.engine.http.post(path).send(body);
    expect(status).toBeLessThan(500);
    return status;
  }
}
