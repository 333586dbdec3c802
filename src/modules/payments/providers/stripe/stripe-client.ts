import { Injectable, Logger } from '@nestjs/common';
import Stripe from 'stripe';
import { invariant } from '../../../../core/invariant';
import { Configuration } from '../../../../platform/config';
import { markFailed, traced } from '../../../../platform/tracing';
import { NoAnswerError, withDeadline } from '../with-deadline';
import { RequestPacer } from './request-pacer';
import type { StripeFailure } from './stripe-errors';
import { stripeHttpClient } from './stripe-http-client';
import { failureOf } from './stripe-outcomes';

/**
 * Timeout of one HTTP request. The SDK repeats a request once if the connection was closed. Both requests together end
 * within the time limit of a call (30 s).
 */
const TIMEOUT_MS = 12_000;
/** Limit for each endpoint. Stripe allows 25 requests per second. */
const REQUESTS_PER_SECOND = 20;
const LONGEST_WAIT_MS = 5_000;

export type StripeResult<Answer> =
  | { readonly answer: Answer; readonly failure: null }
  | { readonly answer: null; readonly failure: StripeFailure };

/** Ids of the objects that a request is about, by the name of the log field. */
type LoggedIds = Readonly<Record<string, string>>;

/** Failure of a request that was not sent, because too many other requests were waiting. */
const TOO_MANY_REQUESTS: StripeFailure = {
  status: 429,
  type: null,
  code: null,
  declineCode: null,
  adviceCode: null,
  parameter: null,
  messageCode: null,
  notConnected: null,
};

/** Failure of a request without an answer. If Stripe sends status 101 or an endless body, the SDK waits for ever. */
const NO_ANSWER: StripeFailure = { ...TOO_MANY_REQUESTS, status: null };

/** Sends requests to Stripe at a limited rate. Does not repeat failed requests, because pollers do. */
@Injectable()
export class StripeClient {
  private readonly logger = new Logger('stripe');
  private readonly sdk: Stripe | null;
  private readonly pacer = new RequestPacer(REQUESTS_PER_SECOND, LONGEST_WAIT_MS);
  /** True if Stripe moves real money; false with a test key, or without a key. */
  readonly isLive: boolean;
  /**
   * Name that this service writes to the metadata of each object. It distinguishes services that share a Stripe
   * account. Must stay the same, because it shows which charges are ours if a restored database lacks their payments.
   */
  readonly environment: string;
  private readonly webhookSecrets: readonly string[];

  constructor({ stripe, environmentName }: Configuration) {
    this.environment = environmentName;
    this.isLive = stripe?.isLive ?? false;
    this.webhookSecrets = stripe?.webhookSecrets ?? [];
    this.sdk = stripe === null ? null : new Stripe(stripe.secretKey, sdkOptions(stripe.apiUrl));
  }

  /**
   * Sends a request as soon as the rate limit allows. Returns a failure with status 429 if the wait would exceed 5 s.
   * @param about ids that are logged if Stripe refuses the request; null: only a refused API key is logged
   * @throws {Error} for an error that does not come from the Stripe SDK
   */
  async request<Answer>(
    endpoint: string,
    send: (sdk: Stripe) => Promise<Answer>,
    about: LoggedIds | null = null,
  ): Promise<StripeResult<Answer>> {
    const { sdk } = this;
    invariant(sdk !== null, 'Stripe has no key.');
    return traced({ name: `stripe ${endpoint}`, kind: 'client' }, async (span) => {
      const result = await this.requestAtLimitedRate(endpoint, () => send(sdk), about);
      const status = result.failure?.status ?? (result.failure === null ? 200 : null);
      if (status !== null) span?.setAttribute('http.response.status_code', status);
      if (span !== null && (status === null || status >= 500)) {
        markFailed(span, String(result.failure?.type ?? status));
      }
      return result;
    });
  }

  private async requestAtLimitedRate<Answer>(
    endpoint: string,
    send: () => Promise<Answer>,
    about: LoggedIds | null,
  ): Promise<StripeResult<Answer>> {
    if (!(await this.pacer.waitForTurn(endpoint)))
      return { answer: null, failure: TOO_MANY_REQUESTS };
    try {
      return { answer: await withDeadline(send()), failure: null };
    } catch (error) {
      if (error instanceof NoAnswerError) return { answer: null, failure: NO_ANSWER };
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      const failure = failureOf(error);
      this.logRefusal(failure, about, { endpoint, ...about, request_id: error.requestId });
      return { answer: null, failure };
    }
  }

  /**
   * Logs a refusal without Stripe's message, which may contain personal data. A declined card (status 402) is not
   * logged. A refund with status 402 is logged, because it waits until the balance of the Stripe account is topped up.
   */
  private logRefusal(failure: StripeFailure, about: LoggedIds | null, ids: object): void {
    const { status, type, parameter } = failure;
    const line = { ...ids, status, type, code: failure.code ?? failure.messageCode, parameter };
    if (status === 401 || status === 403) {
      this.logger.error(line, 'Stripe refused the key: check STRIPE_SECRET_KEY');
    } else if (
      (about !== null && (status === 400 || status === 404)) ||
      (about?.['refund_id'] !== undefined && status === 402)
    ) {
      this.logger.warn(line, 'Stripe refused a request');
    }
  }

  /**
   * Returns the event of a signed notification. Returns null if no webhook secret verifies the signature, or if the
   * body is not JSON.
   * @param toleranceS largest age of the signature, in seconds
   */
  verifiedEvent(raw: Buffer, header: string, toleranceS: number, at: Date): Stripe.Event | null {
    const signature = this.sdk?.webhooks.signature;
    if (!signature) return null;
    for (const secret of this.webhookSecrets) {
      try {
        // Not `constructEvent`, which throws for a thin event.
        const receivedAt = at.getTime();
        signature.verifyHeader(raw, header, secret, toleranceS, undefined, receivedAt);
        return JSON.parse(raw.toString()) as Stripe.Event;
      } catch (error) {
        const isForged = error instanceof Stripe.errors.StripeSignatureVerificationError;
        if (!isForged && !(error instanceof SyntaxError)) throw error;
      }
    }
    return null;
  }
}

function sdkOptions(apiUrl: URL | null): ConstructorParameters<typeof Stripe>[1] {
  const fixed = {
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
    httpClient: stripeHttpClient(),
  } as const;
  if (apiUrl === null) return fixed;
  const protocol = apiUrl.protocol === 'http:' ? 'http' : 'https';
  return {
    ...fixed,
    host: apiUrl.hostname,
    protocol,
    ...(apiUrl.port !== '' && { port: apiUrl.port }),
  };
}
