import {
  ActorProperty,
  BooleanProperty,
  EnumField,
  EnumProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  IntegerProperty,
  toDto,
  toInstantRange,
} from '../../../platform/http';
import { LISTING_PROVIDERS, type ListingProvider } from '../../payments';
import {
  MAX_DIFFERENCES,
  type Reconciliation,
  RECONCILIATION_FAILURES,
  RECONCILIATION_STATUSES,
  type ReconciliationFailure,
  type ReconciliationRequest,
  type ReconciliationStatus,
} from '../reconciliation';

export class CreateReconciliationDto {
  @EnumField(LISTING_PROVIDERS, 'The provider to compare with.', { example: 'stripe' })
  readonly provider!: ListingProvider;
  @InstantField('Start, inclusive. Default: seven days before `to`.', {
    optional: true,
    example: '2026-03-01T00:00:00.000Z',
  })
  readonly from?: string;
  @InstantField('End, exclusive. Default: now.', {
    optional: true,
    example: '2026-03-08T00:00:00.000Z',
  })
  readonly to?: string;
}

export function toReconciliationRequest(dto: CreateReconciliationDto): ReconciliationRequest {
  return { provider: dto.provider, ...toInstantRange(dto.from, dto.to) };
}

export class ReconciliationDto {
  @IdProperty('rcon_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @EnumProperty(LISTING_PROVIDERS, 'The provider that the books are compared with.', 'stripe')
  readonly provider!: ListingProvider;
  @EnumProperty(
    RECONCILIATION_STATUSES,
    'A running reconciliation continues in the background, also after a restart.',
    'completed',
  )
  readonly status!: ReconciliationStatus;
  @EnumProperty(RECONCILIATION_FAILURES, 'Why it failed.', null, { nullable: true })
  readonly failure_code!: ReconciliationFailure | null;
  @InstantProperty('Start, inclusive.', { example: '2026-02-01T09:30:00.000Z' })
  readonly from!: string;
  @InstantProperty('End, exclusive.') readonly to!: string;
  @IntegerProperty('Charges in the provider’s list.', 1_250) readonly charges_listed!: number;
  @IntegerProperty('Refunds in the provider’s list.', 12) readonly refunds_listed!: number;
  @IntegerProperty('Differences between the provider and the books.', 0)
  readonly differences_found!: number;
  @BooleanProperty(
    `True if it ended early, because it found ${MAX_DIFFERENCES.toLocaleString('en')} differences.`,
    false,
  )
  readonly is_truncated!: boolean;
  @ActorProperty('Who started it') readonly actor!: string;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
  @InstantProperty('When it ended; null while it runs.', { nullable: true })
  readonly ended_at!: string | null;
}

export function toReconciliationDto(reconciliation: Reconciliation): ReconciliationDto {
  const { fromAt: from, toAt: to } = reconciliation;
  return toDto(ReconciliationDto, { ...reconciliation, from, to });
}
