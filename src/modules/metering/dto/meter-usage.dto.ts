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
  @InstantProperty('Start of the window.') readonly window_start!: string;
  @InstantProperty('End of the window, exclusive.') readonly window_end!: string;
  @TextProperty('Decimal string.', '10.625') readonly value!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description:
      'With `group_by`: the text of each property, null where events lack it. A text of more than 188 bytes is replaced by its SHA-256.',
    example: { model: 'large' },
  })
  readonly group?: Readonly<Record<string, string | null>>;
}

export class MeterUsageDto {
  @NestedListProperty(
    UsageInWindowDto,
    'Ordered by time and group. With `group_by`, only groups with usage.',
  )
  readonly data!: readonly UsageInWindowDto[];
  @TextProperty(
    'Usage of the whole period over all groups, as a decimal string. Only for some aggregations the sum of `data`.',
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
              group: Object.fromEntries(groupBy.map((name, index) => [name, group[index] ?? null])),
            }),
      })),
    ),
    total: toWireValue(total),
  };
}

/** Returns the exact value. Only a weighted sum without a finite decimal form is rounded, to 18 digits. */
export function toWireValue(value: Rational): string {
  return formatDecimal(value, MAX_FRACTION_DIGITS);
}
