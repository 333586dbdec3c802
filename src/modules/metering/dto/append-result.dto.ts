import { ApiProperty } from '@nestjs/swagger';
import type { AppendResult } from '../store/usage-store';

export class UsageRejectionDto {
  @ApiProperty({
    type: 'integer',
    description: 'The place in `events`, or the line, from 0.',
    example: 17,
  })
  readonly index!: number;

  @ApiProperty({
    description:
      'Stable: `validation_failed`, `malformed_request`, `customer_not_found`, `idempotency_key_reused`, `usage_late` or `usage_in_future`.',
    example: 'customer_not_found',
  })
  readonly code!: string;

  @ApiProperty({ description: 'For people.', example: 'There is no such customer.' })
  readonly message!: string;
}

export class AppendResultDto {
  @ApiProperty({ type: 'integer', description: 'Events that were stored.', example: 997 })
  readonly accepted!: number;

  @ApiProperty({ type: 'integer', description: 'Events that were there already.', example: 2 })
  readonly duplicates!: number;

  @ApiProperty({ type: [UsageRejectionDto], description: 'Events that were not stored, in order.' })
  readonly rejected!: readonly UsageRejectionDto[];
}

export function toAppendResultDto(result: AppendResult): AppendResultDto {
  return {
    accepted: result.accepted,
    duplicates: result.duplicates,
    rejected: result.rejected,
  };
}
