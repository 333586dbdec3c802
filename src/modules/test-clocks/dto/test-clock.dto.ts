import {
  EnumProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  TextField,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { TEST_CLOCK_STATUSES, type TestClock, type TestClockStatus } from '../domain/test-clock';

const LONGEST_NAME = 200;

export class CreateTestClockDto {
  @TextField('For display only.', { most: LONGEST_NAME, example: 'A year of a team' })
  readonly name!: string;
  @InstantField('Initial time of the clock.', { example: '2026-01-31T00:00:00.000Z' })
  readonly now!: string;
}

export class AdvanceTestClockDto {
  @InstantField(
    'New time of the clock: not before its current time, and at most ten years after it.',
    { example: '2027-01-31T00:00:00.000Z' },
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
  @InstantProperty('Target of the running or failed advance.', { nullable: true })
  readonly advances_to!: string | null;
  @InstantProperty('When the test clock was created, in real time.') readonly created_at!: string;
  @InstantProperty('When the test clock last changed, in real time.') readonly updated_at!: string;
}

export function toTestClockDto(clock: TestClock): TestClockDto {
  return toDto(TestClockDto, {
    ...clock,
    now: clock.instant,
    advancesTo: clock.targetAt,
  });
}
