import { ApiProperty } from '@nestjs/swagger';
import { IntegerProperty, NestedListProperty, TextProperty } from './properties';
import { ProblemExtensionsDto } from './problem-extensions.dto';

class ProblemItemDto {
  @TextProperty('JSON pointer to the invalid value.', '/amount')
  readonly pointer!: string;
  @TextProperty('Stable code of the rule that failed.', 'is_minor_units')
  readonly code!: string;
  @TextProperty('Explanation for people.', 'must be a whole number of minor units')
  readonly message!: string;
}

/** Body of every error answer: RFC 9457, `application/problem+json`. */
export class ProblemDto extends ProblemExtensionsDto {
  @ApiProperty({ format: 'uri', description: 'Identifies the code; see docs/errors.md.' })
  readonly type!: string;
  @TextProperty('The same for every occurrence of the code.')
  readonly title!: string;
  @IntegerProperty('The HTTP status.')
  readonly status!: number;
  @TextProperty('Explanation of this occurrence, for people.')
  readonly detail!: string;
  @TextProperty('Stable code to branch on.')
  readonly code!: string;
  @TextProperty('Same as the `X-Request-Id` header. Quote it in support requests.')
  readonly request_id!: string;
  @NestedListProperty(ProblemItemDto, 'Invalid values, if any.')
  readonly errors!: readonly ProblemItemDto[];
}
