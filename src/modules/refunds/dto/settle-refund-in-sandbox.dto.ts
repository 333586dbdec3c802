import { EnumField, PatternField } from '../../../platform/http';

const OUTCOMES = ['succeeded', 'failed'] as const;

export class SettleRefundInSandboxDto {
  @EnumField(OUTCOMES, 'Outcome in the sandbox.', { example: 'succeeded' })
  readonly outcome!: (typeof OUTCOMES)[number];
  @PatternField(
    /^[a-z][a-z0-9_]{0,99}$/,
    'must be a code such as refund_declined',
    'Failure code; used only with `failed`.',
    { optional: true, default: 'declined', example: 'refund_declined' },
  )
  readonly failure_code?: string;
}

export function toFailureCode(dto: SettleRefundInSandboxDto): string | null {
  return dto.outcome === 'succeeded' ? null : (dto.failure_code ?? 'declined');
}
