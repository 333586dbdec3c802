import { IntersectionType } from '@nestjs/swagger';
import {
  EnumProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  MapProperty,
  NestedListProperty,
  NestedProperty,
  PatternField,
  ReferenceFilter,
  TextField,
  TextProperty,
  toDto,
  toInstantRange,
} from '../../../platform/http';
import type {
  AuditedChange,
  AuditEntry,
  AuditFilter,
  AuditHead,
  ExportedChange,
} from '../domain/audit-entry';

const ACTOR_TYPES = [
  'open',
  'anonymous',
  'key',
  'admin',
  'customer_token',
  'command',
  'worker',
] as const;

export class AuditActorDto {
  @EnumProperty(
    ACTOR_TYPES,
    'Kind of the caller. `open`: a call without a credential where none is required; `anonymous`: a sign-in or sign-out of an earlier version; `command`: a command on the machine of the service; `worker`: the engine itself.',
    'key',
  )
  readonly type!: string;
  @TextProperty(
    'Id of the API key, admin or customer token; of a command, `command:` and its name, such as `command:keys create`; otherwise the same as `type`.',
    'key_01h455vb4pex5vsknk084sn02q',
  )
  readonly id!: string;
}

export class AuditChangeDto {
  @TextProperty('What happened to the object.', 'coupon.updated') readonly action!: string;
  @TextProperty('Type of the object.', 'coupon') readonly object_type!: string;
  @TextProperty('Id of the object.', 'coup_01h455vb4pex5vsknk084sn02q') readonly object_id!: string;
  @MapProperty(
    'Values of the changed fields, `before` and `after`; a new object or report has `after` only. Secrets and values above 1,000 characters are replaced by a note. Null if they are missing or damaged in the database.',
    { is_active: { before: true, after: false } },
    { nullable: true },
  )
  readonly changes!: object | null;
}

class AuditHeadDto {
  @IdProperty('aud_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @InstantProperty('When the operation made its first change.') readonly created_at!: string;
  @NestedProperty(AuditActorDto, 'Who made the changes.') readonly actor!: AuditActorDto;
  @TextProperty(
    '`operationId` of the request; null for commands and the engine itself.',
    'updateCoupon',
    {
      nullable: true,
    },
  )
  readonly operation!: string | null;
  @TextProperty('`X-Request-Id` of the request.', '5f0c9b1e-3f0a-4f6e-9a57-0a8f3b6f2d11', {
    nullable: true,
  })
  readonly request_id!: string | null;
  @TextProperty('Address from which the request came.', '127.0.0.1', { nullable: true })
  readonly address!: string | null;
}

export class AuditEntryDto extends AuditHeadDto {
  @NestedListProperty(AuditChangeDto, 'The first 100 changes, in their order.')
  readonly changes!: readonly AuditChangeDto[];
  @IntegerProperty('Number of all changes of the operation. The export has all of them.', 1)
  readonly change_count!: number;
}

export class AuditExportLineDto extends AuditHeadDto {
  @TextProperty('Place in the audit log. Increasing.', '42')
  readonly position!: string;
  @NestedProperty(AuditChangeDto, 'One change of the operation.') readonly change!: AuditChangeDto;
}

function toHeadDto(head: AuditHead): AuditHeadDto {
  return toDto(AuditHeadDto, { ...head, actor: { type: head.actorType, id: head.actorId } });
}

function toChangeDto({ action, objectId, fields }: AuditedChange): AuditChangeDto {
  const [objectType = ''] = action.split('.', 1);
  return { action, object_type: objectType, object_id: objectId, changes: fields };
}

export function toAuditEntryDto(entry: AuditEntry): AuditEntryDto {
  return {
    ...toHeadDto(entry),
    changes: entry.changes.map(toChangeDto),
    change_count: entry.changeCount,
  };
}

export function toAuditExportLineDto({ change, ...head }: ExportedChange): AuditExportLineDto {
  return {
    ...toHeadDto(head),
    position: change.position.toString(),
    change: toChangeDto(change),
  };
}

class AuditFilterDto {
  @ReferenceFilter('Only what this caller did: `actor.id`.') readonly actor_id?: string;
  @TextField('Only this operation, such as `createRefund`.', { max: 80, optional: true })
  readonly operation?: string;
  @ReferenceFilter('Only what changed this object.') readonly object_id?: string;
  @InstantField('Start, inclusive.', { optional: true }) readonly from?: string;
  @InstantField('End, exclusive.', { optional: true }) readonly to?: string;
}

export class ListAuditEntriesDto extends IntersectionType(ListQueryDto, AuditFilterDto) {}

export class ExportAuditLogDto extends AuditFilterDto {
  @PatternField(
    /^\d{1,18}$/,
    'must be the position of a change',
    'Only changes after this `position`.',
    { optional: true },
  )
  readonly after?: string;
}

export function toExportStart({ after }: ExportAuditLogDto): bigint {
  return BigInt(after ?? 0);
}

export function toAuditFilter(dto: AuditFilterDto): AuditFilter {
  return {
    actorId: dto.actor_id ?? null,
    operation: dto.operation ?? null,
    objectId: dto.object_id ?? null,
    ...toInstantRange(dto.from, dto.to),
  };
}
