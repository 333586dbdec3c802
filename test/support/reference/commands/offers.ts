import fc from 'fast-check';
import { ADDONS, PLANS } from '../catalog';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

const CURRENT_TERMS = 'own';

/** Activates another version of the plan of a subscription, with the same terms or with those of another plan. */
class ActivateVersion implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly like: number | typeof CURRENT_TERMS,
    /** True: the request leaves out interval and proration, which are then copied. */
    private readonly inherits: boolean,
  ) {}

  check({ subscriptions }: Readonly<Reference>): boolean {
    return subscriptions.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { plan } = model.subscription(this.pick % model.subscriptions.length).terms.version;
    const active = model.offers.versionsOf(plan).at(-1);
    const like = this.like === CURRENT_TERMS ? active : PLANS[this.like];
    if (like === undefined) return;
    const { interval, proration, prices } = like;
    const terms = this.inherits ? {} : { interval, proration };
    const refusal = model.offers.activate(plan, prices, terms);
    const answer = await engine.catalog.activate(plan, prices, terms);
    expect(answer).toMatchObject(
      refusal === null ? { status: 201 } : { status: 404, body: { code: refusal } },
    );
  }

  toString(): string {
    const like = typeof this.like === 'number' ? (PLANS[this.like]?.name ?? '') : 'before';
    return `activate version(#${this.pick}, like ${like}${this.inherits ? ', prices alone' : ''})`;
  }
}

/** Archives the plan of a subscription, or an add-on. */
class Archive implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly addon: number | null,
  ) {}

  check({ subscriptions }: Readonly<Reference>): boolean {
    return subscriptions.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { archivedAddons, archivedPlans } = model.offers;
    const { plan } = model.subscription(this.pick % model.subscriptions.length).terms.version;
    const { addon } = this;
    const isPlan = addon === null;
    const [archived, index] = isPlan ? [archivedPlans, plan] : [archivedAddons, addon];
    const { catalog } = engine;
    const path = isPlan ? await catalog.pathOfPlan(plan) : await catalog.pathOfAddon(addon);
    const answer = await engine.remove(path);
    expect(answer).toMatchObject({ status: archived.has(index) ? 404 : 204 });
    archived.add(index);
  }

  toString(): string {
    const { addon, pick } = this;
    return `archive(${addon === null ? `plan of #${pick}` : (ADDONS[addon]?.name ?? '')})`;
  }
}

const pick = fc.nat({ max: 1 });

export const activateVersion = fc
  .tuple(
    pick,
    fc.oneof(fc.constant(CURRENT_TERMS), fc.nat({ max: PLANS.length - 1 })),
    fc.boolean(),
  )
  .map((terms) => new ActivateVersion(...terms));

export const archive = fc
  .tuple(pick, fc.option(fc.nat({ max: ADDONS.length - 1 }), { freq: 2 }))
  .map((terms) => new Archive(...terms));
