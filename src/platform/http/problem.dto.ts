import { ApiProperty } from '@nestjs/swagger';
import { ProblemExtensionsDto } from './problem-extensions.dto';

class ProblemItemDto {
  @ApiProperty({ description: 'JSON pointer to the invalid value.', example: '/amount' })
  readonly pointer!: string;

  @ApiProperty({ description: 'Stable code of the rule that failed.', example: 'is_minor_units' })
  readonly code!: string;

  @ApiProperty({
    description: 'Explanation for people.',
    example: 'must be a whole number of minor units',
  })
  readonly message!: string;
}

/** Body of every error answer: RFC 9457, `application/problem+json`. */
export class ProblemDto extends ProblemExtensionsDto {
  @ApiProperty({ format: 'uri', description: 'Identifies the code; see docs/errors.md.' })
  readonly type!: string;

  @ApiProperty({ description: 'The same for every occurrence of the code.' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status.' })
  readonly status!: number;

  @ApiProperty({ description: 'Explanation of this occurrence, for people.' })
  readonly detail!: string;

  @ApiProperty({ description: 'Stable code to branch on.' })
  readonly code!: string;

  @ApiProperty({ description: 'Same as the `X-Request-Id` header. Quote it in support requests.' })
  readonly request_id!: string;

  @ApiProperty({ type: [ProblemItemDto], description: 'Invalid values, if any.' })
  readonly errors!: readonly ProblemItemDto[];
}
