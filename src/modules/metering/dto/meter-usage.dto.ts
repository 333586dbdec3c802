import { ApiPropertyOptional } from '@nestjs/swagger';
import { formatDecimal, MAX_FRACTION_DIGITS, type Rational, ZERO } from '../../../core/decimal';
import type { Period } from '../../../core/time';
import type { Group } from '../../../core/usage';
import {
  InstantProperty,
  NestedListProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import type { MeterTotals, MeterUsage } from '../meter-usage.service';

const GROUP =
  'With `group_by`: the text of each property; null for a value that is not a text, number or boolean. A text of more than 190 bytes as a JSON string, with quotes, is replaced by `sha256:` and its SHA-256 in hex.';

function GroupProperty(
  description: string,
  options: { readonly nullable?: boolean } = {},
): PropertyDecorator {
  return ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description,
    example: { model: 'large' },
    ...options,
  });
}

class WindowValueDto {
  @InstantProperty('Start of the window.') readonly window_start!: string;
  @InstantProperty('End of the window, exclusive.', { example: '2026-04-01T09:30:00.000Z' })
  readonly window_end!: string;
  @TextProperty('Decimal string.', '10.625') readonly value!: string;
}

export class UsageInWindowDto extends WindowValueDto {
  @GroupProperty(GROUP) readonly group?: Readonly<Record<string, string | null>>;
}

export class TotalInWindowDto extends WindowValueDto {
  @GroupProperty(`${GROUP} If \`group\` itself is null: all groups that \`top\` leaves out.`, {
    nullable: true,
  })
  readonly group?: Readonly<Record<string, string | null>> | null;
}

export class MeterTotalsDto {
  @NestedListProperty(
    TotalInWindowDto,
    'Ordered by time and group. With `group_by`, only groups with usage in the window; the groups that `top` leaves out come last.',
  )
  readonly data!: readonly TotalInWindowDto[];
  @TextProperty('Usage of the whole period over all groups, as a decimal string.', '10.625')
  readonly total!: string;
}

export class MeterUsageDto {
  @NestedListProperty(
    UsageInWindowDto,
    'Ordered by time and group. With `group_by`, only groups with usage.',
  )
  readonly data!: readonly UsageInWindowDto[];
  @TextProperty(
    'Usage of the whole period over all groups, as a decimal string. It is the sum of `data` only for some aggregations.',
    '10.625',
  )
  readonly total!: string;
}

export function toMeterUsageDto({ windows, groupBy, total }: MeterUsage): MeterUsageDto {
  return {
    data: windows.flatMap(({ period, groups }) =>
      groups.map(({ group, value }) => ({
        ...toWindowValueDto(period, value),
        ...(groupBy.length > 0 && { group: toWireGroup(groupBy, group) }),
      })),
    ),
    total: toWireValue(total),
  };
}

export function toMeterTotalsDto({ windows, groupBy, total }: MeterTotals): MeterTotalsDto {
  return {
    data: windows.flatMap(({ period, groups }) =>
      groupBy.length === 0
        ? [toWindowValueDto(period, groups[0]?.value ?? ZERO)]
        : groups.map(({ group, value }) => ({
            ...toWindowValueDto(period, value),
            group: group === null ? null : toWireGroup(groupBy, group),
          })),
    ),
    total: toWireValue(total),
  };
}

function toWindowValueDto({ startAt, endAt }: Period, value: Rational): WindowValueDto {
  return {
    window_start: toWireInstant(startAt),
    window_end: toWireInstant(endAt),
    value: toWireValue(value),
  };
}

function toWireGroup(groupBy: readonly string[], group: Group): Record<string, string | null> {
  return Object.fromEntries(groupBy.map((name, index) => [name, group[index] ?? null]));
}

/** Returns a decimal. Only a weighted sum without a finite decimal form is rounded, to 18 fraction digits. */
export function toWireValue(value: Rational): string {
  return formatDecimal(value, MAX_FRACTION_DIGITS);
}
