import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsString, Matches } from 'class-validator';
import { Omittable } from '../../../platform/http';

const OUTCOMES = ['succeeded', 'failed'] as const;

export class SettleRefundInSandboxDto {
  @IsIn(OUTCOMES)
  @ApiProperty({ enum: OUTCOMES, description: 'What the sandbox decides.', example: 'succeeded' })
  readonly outcome!: (typeof OUTCOMES)[number];

  @Omittable()
  @IsString()
  @Matches(/^[a-z][a-z0-9_]{0,99}$/, { message: 'must be a code such as refund_declined' })
  @ApiPropertyOptional({
    description: 'Why it fails; only read for `failed`.',
    default: 'declined',
    example: 'refund_declined',
  })
  readonly failure_code?: string;
}

/** The reason of a failure, or null for a success. */
export function toFailureCode(dto: SettleRefundInSandboxDto): string | null {
  return dto.outcome === 'succeeded' ? null : (dto.failure_code ?? 'declined');
}
