import { IntegerProperty, NestedListProperty, TextProperty } from '../../../platform/http';
import type { ReportResult } from '../usage-events.service';

const MOST_WARNINGS = 100;

export class UsageRejectionDto {
  @IntegerProperty('The place in `events`, or the line, from 0.', 17)
  readonly index!: number;
  @TextProperty(
    'Stable: `validation_failed`, `malformed_request`, `customer_not_found`, `idempotency_key_reused`, `usage_late` or `usage_in_future`.',
    'customer_not_found',
  )
  readonly code!: string;
  @TextProperty('For people.', 'There is no such customer.')
  readonly message!: string;
}

export class UsageWarningDto {
  @TextProperty('Stable: `usage_not_counted`.', 'usage_not_counted')
  readonly code!: string;
  @TextProperty('The name of the events.', 'api_cal')
  readonly event_name!: string;
  @IntegerProperty('Events of the name in the request.', 3)
  readonly events!: number;
  @TextProperty(
    'For people.',
    'No meter counts events of this name. A meter that is made later will.',
  )
  readonly message!: string;
}

export class AppendResultDto {
  @IntegerProperty('Events that were stored.', 997)
  readonly accepted!: number;
  @IntegerProperty('Events that were there already.', 2)
  readonly duplicates!: number;
  @NestedListProperty(UsageRejectionDto, 'Events that were not stored, in order.')
  readonly rejected!: readonly UsageRejectionDto[];
  @NestedListProperty(
    UsageWarningDto,
    'Names of events that were stored and that no meter counts, 100 at most; left out where there are none. A new meter is noticed within 5 s.',
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
  return uncounted.slice(0, MOST_WARNINGS).map(({ eventName, events }) => ({
    code: 'usage_not_counted',
    event_name: eventName,
    events,
    message: 'No meter counts events of this name. A meter that is made later will.',
  }));
}
