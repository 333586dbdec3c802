import { IntegerProperty, NestedListProperty, TextProperty } from '../../../platform/http';
import type { ReportResult } from '../usage-events.service';

const MAX_WARNINGS = 100;

export class UsageRejectionDto {
  @IntegerProperty('Index in `events`, or NDJSON line, from 0.', 17) readonly index!: number;
  @TextProperty(
    'Stable: `validation_failed`, `malformed_request`, `customer_not_found`, `idempotency_key_reused`, `usage_late`, `usage_in_future` or `usage_archived`.',
    'customer_not_found',
  )
  readonly code!: string;
  @TextProperty('Explanation.', 'There is no such customer.') readonly message!: string;
}

export class UsageWarningDto {
  @TextProperty('Stable: `usage_not_counted`.', 'usage_not_counted') readonly code!: string;
  @TextProperty('Name of the events.', 'api_cal') readonly event_name!: string;
  @IntegerProperty('Number of events of the name in the request.', 3) readonly events!: number;
  @TextProperty(
    'Explanation.',
    'No meter counts events of this name. A meter that is created later will.',
  )
  readonly message!: string;
}

export class AppendResultDto {
  @IntegerProperty('Number of events that were stored.', 997) readonly accepted!: number;
  @IntegerProperty('Number of events that were stored already.', 2) readonly duplicates!: number;
  @NestedListProperty(UsageRejectionDto, 'Events that were not stored, in order.')
  readonly rejected!: readonly UsageRejectionDto[];
  @NestedListProperty(
    UsageWarningDto,
    'Names of stored events that no meter counts, at most 100; omitted if there are none. A new meter is noticed within 5 s.',
    { optional: true },
  )
  readonly warnings?: readonly UsageWarningDto[];
}

export function toAppendResultDto(result: ReportResult): AppendResultDto {
  return {
    accepted: result.accepted,
    duplicates: result.duplicates,
    rejected: result.rejected,
    ...(result.uncounted.length === 0 ? {} : { warnings: warningsOf(result) }),
  };
}

function warningsOf({ uncounted }: ReportResult): readonly UsageWarningDto[] {
  return uncounted.slice(0, MAX_WARNINGS).map(({ eventName, events }) => ({
    code: 'usage_not_counted',
    event_name: eventName,
    events,
    message: 'No meter counts events of this name. A meter that is created later will.',
  }));
}
