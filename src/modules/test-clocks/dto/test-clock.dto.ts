import {
  EnumProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  TextField,
  TextListProperty,
  TextProperty,
  toDto,
  toWireInstant,
} from '../../../platform/http';
import { TEST_CLOCK_STATUSES, type TestClock, type TestClockStatus } from '../domain/test-clock';
import type { TestClockJob } from '../test-clock-participants';
import type { NextWork } from '../test-clocks.service';

const MAX_NAME_LENGTH = 200;
/**
 * First and last year to which a clock can be set. Periods and due dates after the time of the clock must still be
 * dates that RFC 3339 can represent.
 */
const YEARS = [1970, 9000] as const;

export class CreateTestClockDto {
  @TextField('For display only.', { max: MAX_NAME_LENGTH, example: 'A year of a team' })
  readonly name!: string;
  @InstantField('Initial time of the clock, in the years 1970 to 9000.', {
    years: YEARS,
    example: '2026-01-31T00:00:00.000Z',
  })
  readonly now!: string;
}

export class AdvanceTestClockDto {
  @InstantField(
    'New time of the clock: not before its current time, at most ten years after it, until the year 9000.',
    {
      years: YEARS,
      example: '2027-01-31T00:00:00.000Z',
    },
  )
  readonly to!: string;
}

export class TestClockDto {
  @IdProperty('clock_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('For display only.', 'A year of a team') readonly name!: string;
  @InstantProperty('Current time of the clock.') readonly now!: string;
  @EnumProperty(
    TEST_CLOCK_STATUSES,
    'Status. `failed`: due work failed while the clock was advancing.',
    'ready',
  )
  readonly status!: TestClockStatus;
  @InstantProperty('Target of the running or failed advance.', { nullable: true, example: null })
  readonly advances_to!: string | null;
  @InstantProperty('When the test clock was created, in real time.') readonly created_at!: string;
  @InstantProperty('When the test clock last changed, in real time.') readonly updated_at!: string;
}

/** For each background job, by its internal name: its name in the API, and its meaning. */
const WORK = {
  'due-payments': ['payment_resumed', 'a provider is asked about a payment again'],
  'due-refunds': ['refund_resumed', 'the same for a refund'],
  'overdue-invoices': ['invoice_overdue', 'an unpaid invoice becomes overdue'],
  'due-subscriptions': ['subscription_due', 'a subscription renews, ends, or its trial ends'],
  'due-drafts': ['invoice_finalized', 'a draft invoice is finalized'],
  'due-late-usage': ['late_usage_billed', 'late usage is billed'],
  'due-collections': ['invoice_collected', 'an invoice is charged'],
  'entitlement-windows': ['entitlement_reset', 'an entitlement balance starts again'],
} as const satisfies Readonly<Record<TestClockJob['name'], readonly [string, string]>>;

export class TestClockNextDto {
  @InstantProperty(
    'When the next work falls due, not before `now`; null when nothing is planned.',
    {
      nullable: true,
    },
  )
  readonly due_at!: string | null;
  @TextListProperty(
    `What falls due at that instant: ${Object.values(WORK)
      .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
      .join('; ')}. Empty when nothing is planned.`,
    ['subscription_due'],
  )
  readonly work!: readonly string[];
}

export function toTestClockNextDto(next: NextWork | null): TestClockNextDto {
  return {
    due_at: next === null ? null : toWireInstant(next.dueAt),
    work: next === null ? [] : next.jobs.map((name) => WORK[name][0]),
  };
}

export function toTestClockDto(clock: TestClock): TestClockDto {
  return toDto(TestClockDto, {
    ...clock,
    now: clock.instant,
    advancesTo: clock.targetAt,
  });
}
