import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import {
  type ChargeRequest,
  type DirectProvider,
  METHOD_UNUSABLE,
  type ProviderOutcome,
  type ProviderRefundRequest,
} from '../domain/payment-provider';
import {
  DEFAULT_SANDBOX_TOKEN,
  isSandboxToken,
  SANDBOX_TOKENS,
  type SandboxBehaviour,
  type SandboxToken,
} from './sandbox-behaviour';

interface OperationRow {
  readonly outcome: 'succeeded' | 'failed' | 'pending';
  readonly failure_code: string | null;
  readonly reference: string;
}

const COLUMNS = 'outcome, failure_code, reference';

const INSERT = `
  INSERT INTO sandbox_operation (key, outcome, failure_code, reference, created_at)
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO NOTHING RETURNING ${COLUMNS}`;

const FIND = `SELECT ${COLUMNS} FROM sandbox_operation WHERE key = $1`;

const SETTLE = `
  UPDATE sandbox_operation SET outcome = $2, failure_code = $3
  WHERE key = $1 AND outcome = 'pending' RETURNING ${COLUMNS}`;

/**
 * Simulated gateway for development and tests. Repeated requests with the same idempotency key get the stored outcome.
 * Stores outcomes in a separate table, as a real gateway would. An outcome is kept even if this service stops before it
 * stores the outcome with the payment.
 */
@Injectable()
export class SandboxProvider implements DirectProvider {
  readonly name = 'sandbox';
  readonly flow = 'direct';

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  accepts(token: string | null): boolean {
    return token === null || isSandboxToken(token);
  }

  charge({ idempotencyKey, token: given }: ChargeRequest): Promise<ProviderOutcome> {
    const token = given ?? DEFAULT_SANDBOX_TOKEN;
    invariant(isSandboxToken(token), `The sandbox does not know the token ${token}.`);
    return this.perform(idempotencyKey, token, SANDBOX_TOKENS[token].charge);
  }

  refund({ idempotencyKey, chargeReference }: ProviderRefundRequest): Promise<ProviderOutcome> {
    const token = tokenOf(chargeReference);
    return this.perform(idempotencyKey, token, SANDBOX_TOKENS[token].refund);
  }

  /**
   * Sets the outcome of a pending charge or refund. May be called in the transaction that stores the outcome, because
   * it simulates an event at the gateway, not a call to the gateway.
   * @param failureCode null: the charge or refund succeeds
   * @returns the outcome; null if no charge or refund with this key is pending
   */
  async settle(
    idempotencyKey: string,
    failureCode: string | null,
  ): Promise<ProviderOutcome | null> {
    const outcome = failureCode === null ? 'succeeded' : 'failed';
    const [row] = await this.database.query<OperationRow>(SETTLE, [
      idempotencyKey,
      outcome,
      failureCode,
    ]);
    return row === undefined ? null : outcomeOf(row);
  }

  private async perform(
    key: string,
    token: SandboxToken,
    behaviour: SandboxBehaviour,
  ): Promise<ProviderOutcome> {
    const [inserted] = await this.database.query<OperationRow>(INSERT, [
      key,
      behaviour.outcome,
      behaviour.failureCode,
      referenceOf(token, key),
      this.clock.now(),
    ]);
    if (inserted !== undefined && behaviour.timesOut) return { kind: 'unknown' };
    const known = inserted ?? (await this.database.query<OperationRow>(FIND, [key]))[0];
    invariant(known !== undefined, `The sandbox lost the operation ${key}.`);
    return outcomeOf(known);
  }
}

/** The reference contains the token, because the token of a charge also determines the outcome of refunds. */
function referenceOf(token: SandboxToken, key: string): string {
  return `${token}/${key}`;
}

function tokenOf(reference: string): SandboxToken {
  const token = reference.split('/', 1)[0] ?? '';
  invariant(isSandboxToken(token), `${reference} is not a reference of the sandbox.`);
  return token;
}

function outcomeOf({
  outcome,
  failure_code: failureCode,
  reference,
}: OperationRow): ProviderOutcome {
  if (outcome === 'failed') {
    if (failureCode === METHOD_UNUSABLE.failureCode) return METHOD_UNUSABLE;
    return { kind: 'failed', failureCode: failureCode ?? 'unknown', retry: 'soft' };
  }
  return { kind: outcome, reference };
}
