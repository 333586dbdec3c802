import { ApiPropertyOptional } from '@nestjs/swagger';
import { formatDecimal, MAX_FRACTION_DIGITS, type Rational } from '../../../core/decimal';
import {
  InstantProperty,
  NestedListProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import type { MeterUsage } from '../meter-usage.service';

export class UsageInWindowDto {
  @InstantProperty('Start of the window.')
  readonly window_start!: string;
  @InstantProperty('End of the window, exclusive.')
  readonly window_end!: string;
  @TextProperty('Decimal string.', '10.625')
  readonly value!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description:
      'With `group_by`: the text of each property, null where events lack it. A text of more than 188 bytes is told by its SHA-256.',
    example: { model: 'large' },
  })
  readonly group?: Readonly<Record<string, string | null>>;
}

export class MeterUsageDto {
  @NestedListProperty(
    UsageInWindowDto,
    'In order of time and group. With `group_by`, only groups with usage.',
  )
  readonly data!: readonly UsageInWindowDto[];
  @TextProperty(
    'Of the whole period and all groups, as a decimal string: not for every aggregation the sum of `data`.',
    '10.625',
  )
  readonly total!: string;
}

export function toMeterUsageDto({ windows, groupBy, total }: MeterUsage): MeterUsageDto {
  return {
    data: windows.flatMap(({ period, groups }) =>
      groups.map(({ group, value }) => ({
        window_start: toWireInstant(period.startAt),
        window_end: toWireInstant(period.endAt),
        value: toWireValue(value),
        ...(groupBy.length === 0
          ? {}
          : {
              group: Object.fromEntries(groupBy.map((name, place) => [name, group[place] ?? null])),
            }),
      })),
    ),
    total: toWireValue(total),
  };
}

/** Exact, but for a weighted sum that has no end as a decimal: that is rounded at 18 digits. */
function toWireValue(value: Rational): string {
  return formatDecimal(value, MAX_FRACTION_DIGITS);
}
