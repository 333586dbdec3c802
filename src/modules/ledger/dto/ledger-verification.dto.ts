import { ApiProperty } from '@nestjs/swagger';
import type { CheckResult } from '../domain/posted-transaction';

export class LedgerCheckDto {
  @ApiProperty({ description: 'Name of the invariant.', example: 'every_transaction_sums_to_zero' })
  readonly name!: string;

  @ApiProperty({ description: 'True if the invariant holds.', example: true })
  readonly ok!: boolean;

  @ApiProperty({
    type: [String],
    description: 'Violations, at most 100.',
    example: [],
  })
  readonly offending!: readonly string[];
}

export class LedgerVerificationDto {
  @ApiProperty({ description: 'True if every check holds.', example: true })
  readonly ok!: boolean;

  @ApiProperty({ type: [LedgerCheckDto], description: 'All checks, run on one snapshot.' })
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
