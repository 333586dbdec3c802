import {
  BooleanProperty,
  NestedListProperty,
  TextListProperty,
  TextProperty,
} from '../../../platform/http';
import type { CheckResult } from '../domain/posted-transaction';

export class LedgerCheckDto {
  @TextProperty('Name of the invariant.', 'every_transaction_sums_to_zero') readonly name!: string;
  @BooleanProperty('True if the invariant holds.', true) readonly ok!: boolean;
  @TextListProperty('Violations, at most 100.', []) readonly offending!: readonly string[];
}

export class LedgerVerificationDto {
  @BooleanProperty('True if every check holds.', true) readonly ok!: boolean;
  @NestedListProperty(LedgerCheckDto, 'All checks, run on one snapshot.')
  readonly checks!: readonly LedgerCheckDto[];
}

export function toLedgerVerificationDto(results: readonly CheckResult[]): LedgerVerificationDto {
  const checks = results.map(({ name, offending }) => ({
    name,
    ok: offending.length === 0,
    offending,
  }));
  return { ok: checks.every(({ ok }) => ok), checks };
}
