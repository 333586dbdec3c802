import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '../../../platform/http';

const LONGEST_KEY = 255;

export class VoidUsageEventDto {
  @IsText(1, LONGEST_KEY)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_KEY,
    description: 'Of the event that is taken back.',
    example: 'req-8f14e45f',
  })
  readonly idempotency_key!: string;
}
