import { TextField } from '../../../platform/http';

const LONGEST_KEY = 255;

export class VoidUsageEventDto {
  @TextField('Of the event that is taken back.', { most: LONGEST_KEY, example: 'req-8f14e45f' })
  readonly idempotency_key!: string;
}
