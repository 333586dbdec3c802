import { ApiProperty } from '@nestjs/swagger';

class ProblemItemDto {
  @ApiProperty({ description: 'JSON pointer to the offending place.', example: '/amount' })
  readonly pointer!: string;

  @ApiProperty({ description: 'Stable code of the rule that failed.', example: 'is_minor_units' })
  readonly code!: string;

  @ApiProperty({ description: 'For people.', example: 'must be a whole number of minor units' })
  readonly message!: string;
}

/** The body of every answer that is not a success: RFC 9457, `application/problem+json`. */
export class ProblemDto {
  @ApiProperty({ format: 'uri', description: 'Names the code; see docs/errors.md.' })
  readonly type!: string;

  @ApiProperty({ description: 'The same for every occurrence of the code.' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status.' })
  readonly status!: number;

  @ApiProperty({ description: 'This occurrence, for people.' })
  readonly detail!: string;

  @ApiProperty({ description: 'Stable; branch on it.' })
  readonly code!: string;

  @ApiProperty({ description: 'The same as the `X-Request-Id` header; name it in a question.' })
  readonly request_id!: string;

  @ApiProperty({ type: [ProblemItemDto], description: 'The offending places, if there are any.' })
  readonly errors!: readonly ProblemItemDto[];
}
