import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { isInterruption } from '../../platform/database';
import { newId } from '../../platform/ids';
import { type MovementKind, type ProviderMovement, ProviderMovementsService } from '../payments';
import { BookedMovementsService } from './booked-movements.service';
import {
  type BookedMovement,
  type Difference,
  differenceBetween,
  type DifferenceType,
  sidesOf,
} from './difference';
import {
  MAX_DIFFERENCES,
  passesOverUnreadable,
  type Reconciliation,
  type ReconciliationFailure,
  type StepProgress,
} from './reconciliation';
import { ListedMovementsRepository } from './listed-movements.repository';

const COMPARE_BATCH_SIZE = 200;
/** Maximum number of possible differences that one step reads again from the provider. */
const CONFIRM_BATCH_SIZE = 50;
/** Time in milliseconds after which a step reads no more objects, so that a shutdown does not wait long for it. */
const CONFIRM_MS = 10_000;
const DELETE_BATCH_SIZE = 10_000;

/** Result of a step, which the caller commits. */
export interface ReconciliationStep {
  readonly listed: readonly ProviderMovement[];
  readonly differences: readonly Difference[];
  readonly result: StepProgress;
}

/** A booked payment or refund, and its counterpart in the provider's list. The two seem to differ. */
interface PossibleDifference {
  readonly booked: BookedMovement | null;
  /** Object in the provider's list; null: the provider did not list the object. */
  readonly reported: ProviderMovement | null;
  /** Position at which the run continues after this object. */
  readonly position: string;
}

/** A possible difference, after both sides were read again. */
interface ReadDifference extends PossibleDifference {
  /**
   * True if no payment is booked with the provider's id of the charge, and the charge was refunded in full at the
   * provider.
   */
  readonly isReturned: boolean;
}

const NOTHING = { next: null, charges: 0, refunds: 0, differences: 0, failureCode: null } as const;

/** Runs the steps of a reconciliation, outside any transaction. */
@Injectable()
export class ReconciliationSteps {
  private readonly logger = new Logger('reconciliations');

  constructor(
    private readonly provider: ProviderMovementsService,
    private readonly books: BookedMovementsService,
    private readonly listedMovements: ListedMovementsRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns the result of the next step of a run, or null if the provider did not answer. */
  next(run: Reconciliation): Promise<ReconciliationStep | null> {
    switch (run.phase) {
      case 'list_charges':
        return this.readList(run, 'charge');
      case 'list_refunds':
        return this.readList(run, 'refund');
      case 'compare_charges':
        return this.compare(run, 'charge');
      case 'compare_refunds':
        return this.compare(run, 'refund');
      case 'find_charges':
        return this.findMissing(run, 'charge');
      case 'find_refunds':
        return this.findMissing(run, 'refund');
      case 'clean':
        return this.deleteListed(run);
    }
  }

  private async readList(
    run: Reconciliation,
    kind: MovementKind,
  ): Promise<ReconciliationStep | null> {
    const { provider, fromAt: from, toAt: to, position: after } = run;
    const page = await this.provider.list(provider, { kind, from, to, after });
    if (page === null) return null;
    const { movements, next } = page;
    const listed = await this.books.filterOwn(kind, movements);
    const charges = kind === 'charge' ? listed.length : 0;
    const refunds = kind === 'refund' ? listed.length : 0;
    return { listed, differences: [], result: { ...NOTHING, next, charges, refunds } };
  }

  private async compare(
    run: Reconciliation,
    kind: MovementKind,
  ): Promise<ReconciliationStep | null> {
    const page = await this.listedMovements.page(
      run.id,
      kind,
      run.position ?? '',
      COMPARE_BATCH_SIZE,
    );
    const bookedOf = await this.books.finderFor(kind, page);
    // Processes of the previous release also list refunds of other services.
    const own = await this.books.filterOwn(kind, page);
    const possible = own
      .map((reported) => ({ reported, booked: bookedOf(reported), position: reported.reference }))
      .filter(({ booked, reported }) => differenceBetween(booked, reported) !== null);
    const last = page.length < COMPARE_BATCH_SIZE ? null : (page.at(-1)?.reference ?? null);
    return this.confirm(run, kind, possible, last);
  }

  /** Finds booked payments or refunds that the provider did not list. */
  private async findMissing(
    run: Reconciliation,
    kind: MovementKind,
  ): Promise<ReconciliationStep | null> {
    const { id, provider, fromAt: from, toAt: to, position } = run;
    const after = position === null ? null : sentPosition(position);
    const query = { provider, from, to, after, limit: COMPARE_BATCH_SIZE };
    const page = (await this.books.sent(kind, query)).map(({ booked, at }) => ({
      booked,
      reported: null,
      position: `${at.toISOString()} ${booked.id}`,
    }));
    const references = page.flatMap(({ booked }) => booked.reference ?? []);
    const ids = page.flatMap(({ booked }) => (booked.reference === null ? booked.id : []));
    const listed = await this.listedMovements.filterListed(id, kind, references, ids);
    const missing = page.filter(({ booked }) => !listed.has(booked.reference ?? booked.id));
    const last = page.length < COMPARE_BATCH_SIZE ? null : (page.at(-1)?.position ?? null);
    return this.confirm(run, kind, missing, last);
  }

  private async deleteListed(run: Reconciliation): Promise<ReconciliationStep> {
    const removed = await this.listedMovements.remove(run.id, DELETE_BATCH_SIZE);
    const next = removed === DELETE_BATCH_SIZE ? 'more' : null;
    return { listed: [], differences: [], result: { ...NOTHING, next } };
  }

  /**
   * Reads possible differences again, because both the provider and the books may have changed since the list was read.
   * Returns a step with the differences that remain, up to the maximum of the run. If an object cannot be read, the
   * step ends before this object and keeps the differences found so far. The next step begins with this object. After
   * the last attempt, the run passes over the object.
   * @returns null if the provider did not answer about the first object
   * @throws {Error} if the first object cannot be processed
   */
  private async confirm(
    run: Reconciliation,
    kind: MovementKind,
    possible: readonly PossibleDifference[],
    last: string | null,
  ): Promise<ReconciliationStep | null> {
    const differences: Difference[] = [];
    const endsAt = this.clock.now().getTime() + CONFIRM_MS;
    let failureCode: ReconciliationFailure | null = null;
    let confirmed = 0;
    for (const one of possible.slice(0, CONFIRM_BATCH_SIZE)) {
      const isFull = run.differencesFound + differences.length >= MAX_DIFFERENCES;
      const isOver = confirmed > 0 && (isFull || this.clock.now().getTime() >= endsAt);
      const remaining = isOver ? null : await this.remaining(run, kind, one, confirmed === 0);
      if (remaining === null && confirmed === 0) return null;
      if (remaining === null) break;
      if (typeof remaining === 'string') failureCode ??= remaining;
      else differences.push(...remaining);
      confirmed += 1;
    }
    const isAll = confirmed === possible.length;
    const next = isAll ? last : (possible[confirmed - 1]?.position ?? last);
    const result = { ...NOTHING, next, differences: differences.length, failureCode };
    return { listed: [], differences, result };
  }

  /**
   * Reads an object again. Returns:
   * - the difference of the object in a list; an empty list if no difference remains
   * - a failure code if the run passes over the object
   * - null if the step must end before the object
   * @throws {Error} if the object cannot be processed and is the first object of the step
   */
  private async remaining(
    run: Reconciliation,
    kind: MovementKind,
    one: PossibleDifference,
    isFirst: boolean,
  ): Promise<readonly Difference[] | ReconciliationFailure | null> {
    try {
      const seen = await this.readAgain(run, kind, one);
      if (seen === null) return isFirst ? this.passOver(run, one, 'provider_unavailable') : null;
      const type = differenceBetween(seen.booked, seen.reported, seen.isReturned);
      return type === null ? [] : [await this.difference(run, type, kind, seen)];
    } catch (error) {
      if (!isFirst) return null;
      const passed = isInterruption(error)
        ? null
        : this.passOver(run, one, 'internal_error', error);
      if (passed === null) throw error;
      return passed;
    }
  }

  /**
   * In the last attempt to read an object, logs that the run passes over it, and returns `reason`. Otherwise returns
   * null.
   */
  private passOver(
    run: Reconciliation,
    { booked, reported }: PossibleDifference,
    reason: ReconciliationFailure,
    error?: unknown,
  ): ReconciliationFailure | null {
    if (!passesOverUnreadable(run)) return null;
    const reference = reported?.reference ?? booked?.reference ?? booked?.id;
    this.logger.error(
      { err: error, reconciliation_id: run.id, reference },
      'a reconciliation passes over an object that cannot be read',
    );
    return reason;
  }

  private async readAgain(
    run: Reconciliation,
    kind: MovementKind,
    { booked, reported, position }: PossibleDifference,
  ): Promise<ReadDifference | null> {
    const reference = reported?.reference ?? booked?.reference ?? null;
    const seen =
      reference === null ? 'absent' : await this.provider.read(run.provider, kind, reference);
    if (seen === null) return null;
    if (seen === 'absent') {
      const now = { booked: await this.books.reread(booked), reported: null, position };
      // The provider does not know `reference`. Meanwhile the books may have stored another reference for the object.
      // In that case, reads the object again by that reference.
      const isOther = now.booked !== null && now.booked.reference !== reference;
      return isOther ? this.readAgain(run, kind, now) : { ...now, isReturned: false };
    }
    // Processes of the previous release store ids of other services like ours, so the list does not say what is ours.
    const isOwn = (await this.books.filterOwn(kind, [seen])).length > 0;
    // Read before the books: the commit that books a refund ends its wait.
    const isAwaited = await this.books.isAwaited(seen);
    const found = (await this.books.finderFor(kind, [seen]))(seen);
    if (!isOwn || (found === null && isAwaited))
      return { booked: null, reported: null, position, isReturned: false };
    const isReturned = seen.isChargeRefunded && !(await this.books.hasCharge(seen));
    return { booked: found, reported: seen, position, isReturned };
  }

  private async difference(
    { id: reconciliationId }: Reconciliation,
    type: DifferenceType,
    object: MovementKind,
    { booked, reported }: PossibleDifference,
  ): Promise<Difference> {
    const sides = sidesOf(booked, reported);
    const charge = reported?.chargeReference ?? null;
    const payments = await this.books.paymentsOf(reported === null ? [] : [reported]);
    return {
      ...sides,
      paymentId: sides.paymentId ?? payments.get(charge ?? '') ?? null,
      id: newId('rcdf'),
      reconciliationId,
      type,
      object,
      createdAt: this.clock.now(),
    };
  }
}

function sentPosition(position: string): { readonly at: Date; readonly id: string } {
  const [at = '', id = ''] = position.split(' ');
  return { at: new Date(at), id };
}
