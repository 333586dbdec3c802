import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../../../platform/config';
import { Database } from '../../../platform/database';
import type { Payment } from '../domain/payment';
import type { PaymentProvider, ProviderName, ProviderOutcome } from '../domain/payment-provider';
import { paymentProviderNotEnabled } from '../payments.errors';
import { ManualProvider } from './manual.provider';
import { SandboxProvider } from './sandbox.provider';

/** A refund as the provider needs to know it. */
export interface RefundOrder {
  readonly id: string;
  /** Minor units of the payment's currency. */
  readonly amount: bigint;
}

/** Two such calls, one after the other, end well within the lease of the process that asks (`pollLease`). */
const CALL_DEADLINE_MS = 30_000;

const chargeKey = (paymentId: string): string => `charge:${paymentId}`;
const refundKey = (refundId: string): string => `refund:${refundId}`;

/**
 * The one way to a provider: never inside a transaction, always with the derived key. A call that throws has an unknown
 * outcome, not a failed one.
 */
@Injectable()
export class ProviderGateway {
  private readonly logger = new Logger('payment-provider');
  private readonly providers: Readonly<Record<ProviderName, PaymentProvider>>;

  constructor(
    private readonly database: Database,
    private readonly sandbox: SandboxProvider,
    manual: ManualProvider,
    private readonly configuration: Configuration,
  ) {
    this.providers = { sandbox, manual };
  }

  isEnabled(provider: ProviderName): boolean {
    return this.configuration.paymentProviders.includes(provider);
  }

  /** @throws {ProblemError} `payment_provider_not_enabled` */
  requireEnabled(provider: ProviderName): void {
    if (!this.isEnabled(provider)) throw paymentProviderNotEnabled(provider);
  }

  accepts(provider: ProviderName, token: string | null): boolean {
    return this.providers[provider].accepts(token);
  }

  charge(payment: Payment): Promise<ProviderOutcome> {
    const { id, amount, currency, providerToken: token } = payment;
    return this.call(payment.provider, (provider) =>
      provider.charge({ idempotencyKey: chargeKey(id), amount, currency, token }),
    );
  }

  refund(payment: Payment, { id, amount }: RefundOrder): Promise<ProviderOutcome> {
    const { currency, providerReference } = payment;
    if (providerReference === null) throw new Error(`The payment ${payment.id} has no reference.`);
    return this.call(payment.provider, (provider) =>
      provider.refund({
        idempotencyKey: refundKey(id),
        chargeReference: providerReference,
        amount,
        currency,
      }),
    );
  }

  /** Asks what became of a charge; makes it if the provider never got it. */
  resumeCharge(payment: Payment): Promise<ProviderOutcome> {
    return this.resume(payment, chargeKey(payment.id), () => this.charge(payment));
  }

  /** Asks what became of a refund; makes it if the provider never got it. */
  resumeRefund(payment: Payment, order: RefundOrder): Promise<ProviderOutcome> {
    return this.resume(payment, refundKey(order.id), () => this.refund(payment, order));
  }

  /** Decides a charge that the sandbox left pending, and returns its outcome; null when there is none. */
  settleSandboxCharge(
    paymentId: string,
    failureCode: string | null,
  ): Promise<ProviderOutcome | null> {
    return this.sandbox.settle(chargeKey(paymentId), failureCode);
  }

  /** Decides a refund that the sandbox left pending, and returns its outcome; null when there is none. */
  settleSandboxRefund(
    refundId: string,
    failureCode: string | null,
  ): Promise<ProviderOutcome | null> {
    return this.sandbox.settle(refundKey(refundId), failureCode);
  }

  private async resume(
    payment: Payment,
    key: string,
    make: () => Promise<ProviderOutcome>,
  ): Promise<ProviderOutcome> {
    const found = await this.call(payment.provider, (provider) => provider.retrieve(key));
    return found ?? make();
  }

  private async call<Answer extends ProviderOutcome | null>(
    name: ProviderName,
    ask: (provider: PaymentProvider) => Promise<Answer>,
  ): Promise<Answer | ProviderOutcome> {
    this.database.refuseTransaction('A call to a payment provider');
    if (!this.isEnabled(name)) {
      const message = 'a payment or refund waits: PAYMENT_PROVIDERS does not name its provider';
      this.logger.warn({ provider: name }, message);
      return { kind: 'unknown' };
    }
    try {
      return await withDeadline(ask(this.providers[name]));
    } catch (error) {
      this.logger.error({ err: error, provider: name }, 'a provider gave no answer');
      return { kind: 'unknown' };
    }
  }
}

async function withDeadline<Result>(call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${CALL_DEADLINE_MS} ms`));
    }, CALL_DEADLINE_MS);
  });
  try {
    return await Promise.race([call, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
