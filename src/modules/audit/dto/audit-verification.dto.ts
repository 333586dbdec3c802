import {
  BooleanProperty,
  EnumProperty,
  InstantProperty,
  IntegerProperty,
  NestedListProperty,
  NestedProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { AuditVerification, FaultySeal } from '../audit-verification.service';
import type { AuditDrop } from '../domain/audit-drop';
import type { Seal, SealFault } from '../seal';

const FAULTS: Readonly<Record<SealFault, string>> = {
  changes_missing: 'rows were removed',
  changes_added: 'rows were added',
  content_changed: 'a row, or the seal itself, was changed',
  chain_broken: 'a seal before this one was removed or changed, or cannot be read',
  unreadable: 'PostgreSQL cannot read a row; restore the rows of these changes from a backup',
  unreadable_when_sealed:
    'PostgreSQL could not read these changes when they were sealed, so nothing proves them',
  seal_unreadable: 'PostgreSQL cannot read the seal; restore it from a backup',
};

const DIGEST = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c';

export class AuditSealDto {
  @TextProperty('Number of the seal, from 1.', '12') readonly number!: string;
  @TextProperty('Position of the last change that it covers.', '11873')
  readonly to_position!: string;
  @TextProperty('SHA-256 over its changes and the seal before it.', DIGEST) readonly hash!: string;
  @InstantProperty('When it was made.') readonly created_at!: string;
}

const FAULT_TEXTS = Object.entries(FAULTS).map(([name, text]) => `\`${name}\`: ${text}.`);

export class AuditFaultDto {
  @EnumProperty(Object.keys(FAULTS), FAULT_TEXTS.join(' '), 'content_changed')
  readonly fault!: SealFault;
  @TextProperty('Number of the seal that does not match.', '12') readonly seal!: string;
  @TextProperty('Position of the first change that it covers; null if unreadable.', '10874', {
    nullable: true,
  })
  readonly from_position!: string | null;
  @TextProperty('Position of the last change that it covers; null if unreadable.', '11873', {
    nullable: true,
  })
  readonly to_position!: string | null;
}

export class AuditDropDto {
  @TextProperty('The month, in UTC.', '2024-01')
  readonly month!: string;
  @IntegerProperty('Number of entries that were dropped.', 5204)
  readonly entry_count!: number;
  @IntegerProperty('Number of changes that were dropped.', 11873)
  readonly change_count!: number;
  @TextProperty(
    'Number of the last seal whose changes were all dropped; `0` if there is none.',
    '12',
  )
  readonly through_seal!: string;
  @InstantProperty('When the month was dropped.')
  readonly dropped_at!: string;
}

export class AuditVerificationDto {
  @BooleanProperty(
    'True if every seal matches its rows, the dropped months match their record, and all could be read.',
    true,
  )
  readonly ok!: boolean;
  @IntegerProperty('Number of seals.', 12) readonly seal_count!: number;
  @IntegerProperty('Number of sealed changes, dropped ones included.', 11873)
  readonly sealed_changes!: number;
  @IntegerProperty('Number of changes that are not sealed yet; 0 if it cannot be read.', 4)
  readonly unsealed_changes!: number;
  @NestedProperty(
    AuditSealDto,
    'Last seal, or the last one that can be read; null if there is none. Keep a copy outside the database: it reveals if the newest seals were removed or all seals were replaced.',
    { nullable: true },
  )
  readonly last_seal!: AuditSealDto | null;
  @NestedListProperty(AuditFaultDto, 'Seals that do not match, at most 100.')
  readonly faults!: readonly AuditFaultDto[];
  @TextListProperty('Ids of entries without a change, at most 100. The engine writes none.', [])
  readonly empty_entries!: readonly string[];
  @NestedListProperty(
    AuditDropDto,
    'Drops of months after `AUDIT_RETENTION_MONTHS`, oldest first. Their seals are kept, as are hashes of dropped changes whose seal also covers kept changes.',
  )
  readonly dropped_months!: readonly AuditDropDto[];
  @BooleanProperty(
    'False if a drop differs from its entry in the audit log, or from the hashes that it kept.',
    true,
  )
  readonly dropped_months_match!: boolean;
  @TextListProperty(
    'Parts that are unknown because PostgreSQL cannot read a row: `unsealed_changes`, `empty_entries`, `dropped_months`, `dropped_months_match`, or `dropped_seals` (the seals of dropped months).',
    [],
  )
  readonly unreadable!: readonly string[];
}

export function toAuditVerificationDto(verification: AuditVerification): AuditVerificationDto {
  const { faults, emptyEntries, lastSeal, drops, dropsMatch, unreadable } = verification;
  return toDto(AuditVerificationDto, {
    ...verification,
    ok: [faults, emptyEntries, unreadable].every(({ length }) => length === 0) && dropsMatch,
    lastSeal: lastSeal === null ? null : toSealDto(lastSeal),
    faults: faults.map(toFaultDto),
    droppedMonths: drops.map(toDropDto),
    droppedMonthsMatch: dropsMatch,
  });
}

function toDropDto(drop: AuditDrop): AuditDropDto {
  const month = drop.month.replace('_', '-');
  return toDto(AuditDropDto, { ...drop, month, throughSeal: drop.throughSeal.toString() });
}

function toSealDto({ number, to, ...seal }: Seal): AuditSealDto {
  return toDto(AuditSealDto, { ...seal, number: number.toString(), toPosition: to.toString() });
}

function toFaultDto({ number, seal, fault }: FaultySeal): AuditFaultDto {
  return {
    fault,
    seal: number.toString(),
    from_position: seal === null ? null : (seal.from + 1n).toString(),
    to_position: seal?.to.toString() ?? null,
  };
}
