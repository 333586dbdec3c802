import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  IsInstant,
  IsText,
  toWireInstant,
} from '../../../platform/http';
import { TEST_CLOCK_STATUSES, type TestClock, type TestClockStatus } from '../domain/test-clock';

const LONGEST_NAME = 200;

export class CreateTestClockDto {
  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For display only.',
    example: 'A year of a team',
  })
  readonly name!: string;

  @IsInstant()
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Initial time of the clock.',
    example: '2026-01-31T00:00:00.000Z',
  })
  readonly now!: string;
}

export class AdvanceTestClockDto {
  @IsInstant()
  @ApiProperty({
    type: String,
    format: 'date-time',
    description:
      'New time of the clock: not before its current time, and at most ten years after it.',
    example: '2027-01-31T00:00:00.000Z',
  })
  readonly to!: string;
}

export class TestClockDto {
  @IdProperty('clock_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'For display only.', example: 'A year of a team' })
  readonly name!: string;

  @InstantProperty('Current time of the clock.')
  readonly now!: string;

  @ApiProperty({
    enum: TEST_CLOCK_STATUSES,
    description: 'Status. `failed`: due work failed while the clock was advancing.',
    example: 'ready',
  })
  readonly status!: TestClockStatus;

  @InstantProperty('Target of the running or failed advance.', { nullable: true })
  readonly advances_to!: string | null;

  @InstantProperty('When the test clock was created, in real time.')
  readonly created_at!: string;

  @InstantProperty('When the test clock last changed, in real time.')
  readonly updated_at!: string;
}

export function toTestClockDto(clock: TestClock): TestClockDto {
  return {
    id: clock.id,
    name: clock.name,
    now: toWireInstant(clock.instant),
    status: clock.status,
    advances_to: toWireInstant(clock.targetAt),
    created_at: toWireInstant(clock.createdAt),
    updated_at: toWireInstant(clock.updatedAt),
  };
}
