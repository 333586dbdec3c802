import { IntegerProperty, TextProperty, toDto } from '../../../platform/http';
import type { UsageProof } from '../store/usage-store';

export class UsageProofDto {
  @IntegerProperty(
    'Events of the name of the meter that were stored, with a timestamp in the period.',
    1000,
  )
  readonly accepted!: number;
  @IntegerProperty('Repetitions of events, over the whole UTC hours that the period touches.', 1000)
  readonly duplicates!: number;
  @IntegerProperty('Events refused, over the whole UTC hours that the period touches.', 1000)
  readonly rejected!: number;
  @IntegerProperty('Of those accepted, those taken back since.', 1000)
  readonly voided!: number;
  @IntegerProperty('Accepted, not taken back, and fit for the meter.', 1000)
  readonly counted!: number;
  @IntegerProperty(
    'Of those counted, those that are in every bill made of a period they move.',
    1000,
  )
  readonly billed!: number;
  @IntegerProperty(
    'Of those counted, those that wait for a bill: `counted` = `billed` + `pending` + `unbillable`.',
    1000,
  )
  readonly pending!: number;
  @IntegerProperty(
    'Of those counted, those that no bill will count as things stand: they happened while the customer was subscribed ' +
      'and the meter was not billed, in a trial or a pause or at a plan without its price.',
    1000,
  )
  readonly unbillable!: number;
  @TextProperty(
    'SHA-256, hex, over the idempotency keys of the accepted events, by timestamp (to the millisecond) and then by the bytes of the key, each followed by a line feed.',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
  readonly digest!: string;
}

export function toUsageProofDto(proof: UsageProof): UsageProofDto {
  return toDto(UsageProofDto, proof);
}
