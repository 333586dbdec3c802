import { Injectable } from '@nestjs/common';
import {
  type MovementKind,
  type MovementState,
  type Payment,
  PaymentsRepository,
  type ProviderMovement,
  type SentQuery,
} from '../payments';
import { type Refund, RefundsRepository, WaitingRefundsService } from '../refunds';
import type { BookedMovement } from './difference';

export interface SentMovement {
  readonly booked: BookedMovement;
  /** Time at which the charge or refund was sent to the provider. */
  readonly at: Date;
}

@Injectable()
export class BookedMovementsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly refunds: RefundsRepository,
    private readonly waitingRefunds: WaitingRefundsService,
  ) {}

  /**
   * Returns a function that finds the booked payment or refund for a reported charge or refund. The function searches
   * by the provider's id, then by our id in the metadata. It returns null if nothing is booked.
   * - A refund found by our id must not have another id at the provider, another payment or another amount. Otherwise
   *   somebody copied the metadata, and the function returns null.
   * - A charge found by our id may have another id at the provider: it is a second charge of the payment.
   */
  async finderFor(
    kind: MovementKind,
    reported: readonly ProviderMovement[],
  ): Promise<(movement: ProviderMovement) => BookedMovement | null> {
    const ids = reported.flatMap(({ subjectId }) => subjectId ?? []);
    const references = reported.map(({ reference }) => reference);
    const found = await this.find(kind, ids, references);
    const byId = new Map(found.map((booked) => [booked.id, booked]));
    const byReference = new Map(found.map((booked) => [booked.reference, booked]));
    const namedBy = ({ subjectId }: ProviderMovement) => byId.get(subjectId ?? '') ?? null;
    const payments = await this.paymentsOf(
      reported.filter((movement) => namedBy(movement)?.reference === null),
    );
    return (movement) => {
      const { reference, chargeReference, amount } = movement;
      const named = namedBy(movement);
      const isSame =
        kind === 'charge' ||
        (named?.reference === null &&
          named.paymentId === payments.get(chargeReference ?? '') &&
          named.amount === amount);
      return byReference.get(reference) ?? (isSame ? named : null);
    };
  }

  /**
   * Returns the reported charges or refunds that belong to this service. These are:
   * - charges and refunds with our id and environment in their metadata
   * - charges and refunds that are booked with the provider's id
   * - refunds of booked charges
   */
  async filterOwn(
    kind: MovementKind,
    reported: readonly ProviderMovement[],
  ): Promise<readonly ProviderMovement[]> {
    const isMarked = ({ subjectId, isOfOtherEnvironment }: ProviderMovement): boolean =>
      subjectId !== null && isOfOtherEnvironment !== true;
    const others = reported.filter((movement) => !isMarked(movement));
    const bookedOf = await this.finderFor(kind, others);
    const payments = await this.paymentsOf(others);
    return reported.filter(
      (movement) =>
        isMarked(movement) ||
        bookedOf(movement) !== null ||
        payments.has(movement.chargeReference ?? ''),
    );
  }

  /** Reads a booked payment or refund again. Returns null if it was deleted, or if `booked` is null. */
  async reread(booked: BookedMovement | null): Promise<BookedMovement | null> {
    if (booked === null) return null;
    const [found] = await this.find(booked.kind, [booked.id], []);
    return found ?? null;
  }

  /** Returns the ids of the payments that the refunds belong to, by the provider's id of the charge. */
  async paymentsOf(refunds: readonly ProviderMovement[]): Promise<ReadonlyMap<string, string>> {
    const references = refunds.flatMap(({ chargeReference }) => chargeReference ?? []);
    if (references.length === 0) return new Map();
    const payments = await this.payments.findReported([], references);
    return new Map(payments.map(({ providerReference, id }) => [providerReference ?? '', id]));
  }

  /** Returns true if a payment is booked with the provider's id of this charge (for a refund: of its charge). */
  async hasCharge({ reference, chargeReference }: ProviderMovement): Promise<boolean> {
    return (await this.payments.findReported([], [chargeReference ?? reference])).length > 0;
  }

  /**
   * Returns true if a reported refund still waits for its payment, and the wait began only lately
   * ({@link WaitingRefundsService}).
   */
  async isAwaited(refund: ProviderMovement): Promise<boolean> {
    const [paymentId] = (await this.paymentsOf([refund])).values();
    return paymentId !== undefined && this.waitingRefunds.isAwaited(paymentId, refund.reference);
  }

  /** Returns booked succeeded charges or refunds that were sent to the provider in a period, oldest first. */
  async sent(kind: MovementKind, query: SentQuery): Promise<readonly SentMovement[]> {
    if (kind === 'charge') {
      const payments = await this.payments.findSent(query);
      return payments.map((payment) => ({
        booked: toPaymentMovement(payment),
        at: payment.sentAt ?? payment.createdAt,
      }));
    }
    const refunds = await this.refunds.findSent(query);
    return refunds.map((refund) => ({
      booked: toRefundMovement(refund),
      at: refund.sentAt ?? refund.createdAt,
    }));
  }

  private async find(
    kind: MovementKind,
    ids: readonly string[],
    references: readonly string[],
  ): Promise<readonly BookedMovement[]> {
    return kind === 'charge'
      ? (await this.payments.findReported(ids, references)).map(toPaymentMovement)
      : (await this.refunds.findReported(ids, references)).map(toRefundMovement);
  }
}

const stateOf = (status: Payment['status'] | Refund['status']): MovementState => {
  if (status === 'succeeded') return 'succeeded';
  return status === 'failed' || status === 'canceled' ? 'ended' : 'open';
};

function toPaymentMovement(payment: Payment): BookedMovement {
  const { id, providerReference: reference, amount, currency } = payment;
  const state = stateOf(payment.status);
  return { kind: 'charge', id, paymentId: id, reference, amount, currency, state };
}

function toRefundMovement(refund: Refund): BookedMovement {
  const { id, paymentId, providerReference: reference, amount, currency } = refund;
  const state = stateOf(refund.status);
  return { kind: 'refund', id, paymentId, reference, amount, currency, state };
}
