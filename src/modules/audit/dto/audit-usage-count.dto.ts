import {
  InstantProperty,
  IntegerProperty,
  NestedProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { UsageCount } from '../domain/audit-entry';
import { AuditActorDto } from './audit-entry.dto';

export class AuditUsageCountDto {
  @NestedProperty(AuditActorDto, 'Who sent the requests.') readonly actor!: AuditActorDto;
  @TextProperty('`operationId` of the requests.', 'reportUsage') readonly operation!: string;
  @InstantProperty('Start of the hour, in UTC.') readonly hour!: string;
  @IntegerProperty('Number of requests with a successful answer. A batch is one request.', 1280)
  readonly request_count!: number;
}

export function toAuditUsageCountDto(count: UsageCount): AuditUsageCountDto {
  const actor = { type: count.actorType, id: count.actorId };
  return toDto(AuditUsageCountDto, { ...count, actor });
}
