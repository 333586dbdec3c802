import {
  BooleanProperty,
  InstantField,
  InstantProperty,
  IntegerProperty,
  NestedListProperty,
  NestedProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { CheckResult, LastReconciliation } from '../domain/posted-transaction';

export class VerifyLedgerDto {
  @InstantField(
    'Checks only transactions made since this instant, and their customers. Omit it to verify the whole ledger.',
    { optional: true },
  )
  readonly changed_since?: string;
}

export function toChangedSince({ changed_since: since }: VerifyLedgerDto): Date | null {
  return since === undefined ? null : new Date(since);
}

export class LedgerCheckDto {
  @TextProperty('Name of the invariant.', 'every_transaction_sums_to_zero') readonly name!: string;
  @BooleanProperty('True if the invariant holds.', true) readonly ok!: boolean;
  @TextListProperty('Violations, at most 100.', []) readonly offending!: readonly string[];
}

export class LastReconciliationDto {
  @TextProperty('Id of the reconciliation.', 'rcon_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('The payment provider.', 'stripe') readonly provider!: string;
  @TextProperty('`completed`, or `failed` if the provider did not answer.', 'completed')
  readonly status!: string;
  @InstantProperty('End of the compared period.')
  readonly to!: string;
  @IntegerProperty('Differences between the provider and the books.', 0)
  readonly differences_found!: number;
  @InstantProperty('When it ended.', { nullable: true }) readonly ended_at!: string | null;
}

export class LedgerVerificationDto {
  @BooleanProperty('True if every check holds.', true) readonly ok!: boolean;
  @NestedListProperty(
    LedgerCheckDto,
    'All checks, or with `changed_since` those that can be limited to customers; run on one snapshot.',
  )
  readonly checks!: readonly LedgerCheckDto[];
  @NestedProperty(
    LastReconciliationDto,
    'The last ended comparison of the last seven days with a payment provider; null: none. It does not affect `ok`.',
    { nullable: true },
  )
  readonly last_reconciliation!: LastReconciliationDto | null;
}

export function toLedgerVerificationDto(
  results: readonly CheckResult[],
  last: LastReconciliation | null,
): LedgerVerificationDto {
  const checks = results.map(({ name, offending }) => ({
    name,
    ok: offending.length === 0,
    offending,
  }));
  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    last_reconciliation:
      last === null ? null : toDto(LastReconciliationDto, { ...last, to: last.toAt }),
  };
}
