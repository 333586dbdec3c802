import { ApiProperty } from '@nestjs/swagger';
import type { CheckResult } from '../domain/posted-transaction';

export class LedgerCheckDto {
  @ApiProperty({ description: 'What must hold.', example: 'every_transaction_sums_to_zero' })
  readonly name!: string;

  @ApiProperty({ description: 'Whether it holds.', example: true })
  readonly ok!: boolean;

  @ApiProperty({
    type: [String],
    description: 'What breaks it, at most 100.',
    example: [],
  })
  readonly offending!: readonly string[];
}

export class LedgerVerificationDto {
  @ApiProperty({ description: 'Whether every check holds.', example: true })
  readonly ok!: boolean;

  @ApiProperty({ type: [LedgerCheckDto], description: 'All of them seen at one instant.' })
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
