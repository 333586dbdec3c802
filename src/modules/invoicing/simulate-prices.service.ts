import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { isWireSafe } from '../../core/money';
import type { TermsFault } from '../../core/terms-fault';
import { Database, Reports } from '../../platform/database';
import { referenceNotFound, raise } from '../../platform/errors';
import { CatalogService, type CatalogPrice, type PriceTerms, toPrice } from '../catalog';
import { usagePeriodEmpty } from '../metering';
import { type Meter, MetersService } from '../meters';
import { ChargedEventsService, type ChargesOf } from './charged-events.service';
import type { CreditLineRequest } from './domain/line-item-request';
import { type MatchFault, matchPrices, type NamedPrice } from './domain/match-prices';
import { simulateItem, type SimulatedLine } from './domain/simulate';
import { isPrepaidCharge, unstoredCredits, unstoredUsage } from './domain/unstored-lines';
import { partOf, type TracedPart, type UsagePart, type UsageTrace } from './domain/usage';
import { invoiceTooLarge, simulatedPriceUnmatched } from './invoicing.errors';
import { SimulationRepository } from './simulation.repository';

const CUSTOMERS_AT_ONCE = 50;

/** Returns, by item id, the request to credit the unused time after an item's end. Omits items without an end. */
export type CreditsAtEnd = (
  itemIds: readonly string[],
) => Promise<ReadonlyMap<string, CreditLineRequest>>;

export interface SimulationCommand {
  readonly planId: string;
  readonly prices: readonly PriceTerms[];
  /** Start of the range `[from, to)`. The billing periods that start in this range are simulated. */
  readonly from: Date;
  readonly to: Date;
  /** Customers to simulate; null for all customers in real time. */
  readonly customerIds: readonly string[] | null;
}

/** Amounts in minor units before discounts and tax. */
export interface SimulatedAmounts {
  readonly oldMinor: bigint;
  readonly newMinor: bigint;
}

export type SimulationStep =
  | { readonly kind: 'progress'; readonly customers: number; readonly of: number }
  | ({ readonly kind: 'customer'; readonly customerId: string } & SimulatedAmounts)
  | ({
      readonly kind: 'totals';
      readonly currency: string;
      readonly customers: number;
      /** Number of customers who would have paid less (`winners`) or more (`losers`). */
      readonly winners: number;
      readonly losers: number;
    } & SimulatedAmounts);

interface LineToSimulate {
  readonly customerId: string;
  readonly line: SimulatedLine;
}

interface MeteredLine {
  readonly customerId: string;
  readonly id: string;
  readonly trace: UsageTrace;
}

interface Simulation {
  readonly command: SimulationCommand;
  readonly creditsAtEnd: CreditsAtEnd;
  readonly currency: string;
  /** New price for each price of the plan, by the id of the replaced price; null if the price is dropped. */
  readonly replacements: ReadonlyMap<string, NamedPrice | null>;
  /** By price id: why the new price of the same name cannot replace that price of the plan. */
  readonly unmatched: ReadonlyMap<string, MatchFault>;
  readonly meters: ReadonlyMap<string, Meter>;
}

/** Calculates the amounts that customers would have paid at other prices. Writes and locks nothing. */
@Injectable()
export class SimulatePricesService {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly catalog: CatalogService,
    private readonly meters: MetersService,
    private readonly charges: ChargedEventsService,
    private readonly history: SimulationRepository,
  ) {}

  /**
   * Checks the command and returns a generator. For each customer, the generator yields the amount billed for the plan,
   * and the amount that the new prices would have billed for the same time and usage.
   * @throws {ProblemError} `reference_not_found`, `price_terms_contradict`, `simulated_price_unmatched`,
   *   `usage_period_empty`, `too_many_reports`. The generator also throws `invoice_too_large`,
   *   `usage_archived` if a percentage price needs archived events, and `simulated_price_unmatched` if a customer was
   *   billed with a price that the new price of the same name cannot replace
   */
  async simulate(
    command: SimulationCommand,
    creditsAtEnd: CreditsAtEnd,
  ): Promise<AsyncGenerator<SimulationStep>> {
    if (command.from >= command.to) throw usagePeriodEmpty();
    const setup = { ...(await this.setup(command)), creditsAtEnd };
    this.reports.requireRoom('simulation');
    return this.steps(setup);
  }

  private async setup(command: SimulationCommand): Promise<Omit<Simulation, 'creditsAtEnd'>> {
    const sold =
      (await this.catalog.findPricesOfPlan(command.planId)) ??
      raise(referenceNotFound('/plan_id', command.planId));
    await this.database.transaction(() => this.catalog.assertPrices(command.prices, '/prices'));
    const named = sold.versions.map((prices) =>
      prices.map((price) => ({ ...namedOf(price), id: price.id })),
    );
    const offered = command.prices.map((terms) => namedOf(toPrice('', terms)));
    const { replacements, unmatched, faults } = matchPrices(named, offered);
    if (faults.length > 0) throw simulatedPriceUnmatched(faults.map(toTermsFault));
    const meterIds = [...offered, ...unmatched.keys()].flatMap(({ meterId }) => meterId ?? []);
    return {
      command,
      currency: sold.currency,
      replacements: new Map([...replacements].map(([{ id }, price]) => [id, price])),
      unmatched: new Map([...unmatched].map(([{ id }, fault]) => [id, fault])),
      meters: await this.meters.getAll([...new Set(meterIds)]),
    };
  }

  private async *steps(setup: Simulation): AsyncGenerator<SimulationStep> {
    const leave = await this.reports.enter('simulation');
    try {
      yield* this.stepsWithin(setup);
    } finally {
      leave();
    }
  }

  private async *stepsWithin(setup: Simulation): AsyncGenerator<SimulationStep> {
    const { customerIds } = setup.command;
    const of = customerIds?.length ?? (await this.read(() => this.history.countCustomers()));
    const totals = { customers: 0, oldMinor: 0n, newMinor: 0n, winners: 0, losers: 0 };
    let read = 0;
    let last = '';
    for (;;) {
      const page =
        customerIds === null
          ? await this.read(() => this.history.customersAfter(last, CUSTOMERS_AT_ONCE))
          : customerIds.slice(read, read + CUSTOMERS_AT_ONCE);
      if (page.length === 0) break;
      last = page.at(-1) ?? last;
      read += page.length;
      for (const one of await this.read(() => this.simulateCustomers(setup, page))) {
        totals.customers += 1;
        totals.oldMinor += one.oldMinor;
        totals.newMinor += one.newMinor;
        if (one.newMinor < one.oldMinor) totals.winners += 1;
        if (one.newMinor > one.oldMinor) totals.losers += 1;
        if (![one, totals].every(isRepresentable)) throw invoiceTooLarge();
        yield { kind: 'customer', ...one };
      }
      yield { kind: 'progress', customers: read, of };
    }
    yield { kind: 'totals', currency: setup.currency, ...totals };
  }

  private read<Result>(reads: () => Promise<Result>): Promise<Result> {
    return this.reports.read(reads);
  }

  private async simulateCustomers(
    setup: Simulation,
    customerIds: readonly string[],
  ): Promise<readonly ({ readonly customerId: string } & SimulatedAmounts)[]> {
    const billed = await this.linesOf(setup, customerIds);
    assertMatched(billed, setup.unmatched);
    const simulated: ({ readonly customerId: string } & SimulatedAmounts)[] = [];
    for (const [customerId, ofCustomer] of groupBy(billed, (one) => one.customerId)) {
      const oldMinor = ofCustomer.reduce((total, { line }) => total + line.amount, 0n);
      let newMinor = 0n;
      for (const ofItem of groupBy(ofCustomer, ({ line }) => line.itemId).values()) {
        newMinor += await this.simulateItem(setup, ofItem);
      }
      simulated.push({ customerId, oldMinor, newMinor });
    }
    return simulated;
  }

  /** Returns the billed lines, then credits and usage that have no line because their amount was 0. */
  private async linesOf(
    { command, replacements, creditsAtEnd, meters }: Simulation,
    customerIds: readonly string[],
  ): Promise<readonly LineToSimulate[]> {
    const priceIds = [...replacements.keys()];
    const billed = await this.history.billedLines(customerIds, priceIds, command);
    const usage = await this.history.usageWithoutLine(customerIds, priceIds, command);
    const prepaid = billed.filter(({ line }) => isPrepaidCharge(line));
    const ends = await creditsAtEnd(prepaid.flatMap(({ line }) => line.itemId ?? []));
    const unstored: LineToSimulate[] = [];
    for (const [customerId, ofCustomer] of groupBy(billed, (one) => one.customerId)) {
      const own = ofCustomer.map(({ line }) => line);
      const credits = unstoredCredits(own, ends);
      unstored.push(...credits.map((line) => ({ customerId, line })));
    }
    const lines = billed.map(({ line }) => line);
    for (const one of usage) {
      const meter = meters.get(one.request.meterId);
      const line = meter === undefined ? null : unstoredUsage(one, meter, lines);
      if (line !== null) unstored.push({ customerId: one.customerId, line });
    }
    return [...billed, ...unstored];
  }

  private async simulateItem(
    { replacements, meters }: Simulation,
    billed: readonly LineToSimulate[],
  ): Promise<bigint> {
    const price = replacements.get(billed[0]?.line.priceId ?? '') ?? null;
    if (price === null) return 0n;
    const parts = new Map<string, readonly UsagePart[]>();
    const metered = billed.flatMap(({ customerId, line: { id, trace } }) =>
      trace.kind === 'usage' && trace.parts.length > 0 ? [{ customerId, id, trace }] : [],
    );
    for (const together of groupBy(metered, ({ trace }) => countKeyOf(trace)).values()) {
      const chargesOf = await this.chargesOf(together[0], price, meters);
      for (const { id, trace } of together) {
        const withCharges = (traced: TracedPart): UsagePart => ({
          ...partOf(traced),
          charged: chargesOf?.(traced.group) ?? null,
        });
        parts.set(id, trace.parts.map(withCharges));
      }
    }
    const lines = billed.map(({ line }) => line);
    return simulateItem(lines, price, ({ id }) => parts.get(id) ?? []);
  }

  /** Returns the charges of a percentage price for the events that a line counted; null for other prices. */
  private async chargesOf(
    line: MeteredLine | undefined,
    { rating }: NamedPrice,
    meters: Simulation['meters'],
  ): Promise<ChargesOf | null> {
    const meter = meters.get(line?.trace.meter.id ?? '');
    if (line === undefined || meter === undefined || rating.model !== 'percentage') return null;
    const { customerId, trace } = line;
    const { period, upToPosition, isByGroup } = trace;
    return this.charges.charge(rating, { customerId, meter, period, upToPosition }, isByGroup);
  }
}

/** Returns the same key for the usage lines of an item that counted the same events. */
function countKeyOf({ meter, period, upToPosition, isByGroup }: UsageTrace): string {
  const { startAt, endAt } = period;
  return [meter.id, startAt.getTime(), endAt.getTime(), upToPosition, isByGroup].join(' ');
}

function isRepresentable({ oldMinor, newMinor }: SimulatedAmounts): boolean {
  return [oldMinor, newMinor, newMinor - oldMinor].every(isWireSafe);
}

/** @throws {ProblemError} `simulated_price_unmatched`, with the customers of each unmatched price */
function assertMatched(lines: readonly LineToSimulate[], unmatched: Simulation['unmatched']): void {
  const faults = [...groupBy(lines, ({ line }) => line.priceId)].flatMap(([priceId, ofPrice]) => {
    const fault = unmatched.get(priceId ?? '');
    if (fault === undefined) return [];
    const customers = [...new Set(ofPrice.map(({ customerId }) => customerId))].join(', ');
    const message = `${fault.message}: ${priceId} was billed to ${customers}`;
    return [toTermsFault({ ...fault, message })];
  });
  if (faults.length > 0) throw simulatedPriceUnmatched(faults);
}

function toTermsFault({ index, message }: MatchFault): TermsFault {
  return { pointer: `/prices/${index}`, message };
}

function namedOf(price: CatalogPrice): NamedPrice {
  return {
    name: price.name,
    meterId: price.meterId,
    isByGroup: price.isByGroup,
    timing: price.timing,
    rating: price.rating,
    minimumMinor: price.minimumAmount,
    maximumMinor: price.maximumAmount,
  };
}
