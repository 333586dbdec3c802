import { TextField } from '../../../platform/http';

const MAX_KEY_LENGTH = 255;

export class VoidUsageEventDto {
  @TextField('Idempotency key of the event to void.', {
    max: MAX_KEY_LENGTH,
    example: 'req-8f14e45f',
  })
  readonly idempotency_key!: string;
}
