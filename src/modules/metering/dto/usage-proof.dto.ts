import { ApiProperty } from '@nestjs/swagger';
import { toWireAmount } from '../../../platform/http';
import type { UsageProof } from '../store/usage-store';

function CountProperty(description: string): PropertyDecorator {
  return ApiProperty({ type: 'integer', description, example: 1000 });
}

export class UsageProofDto {
  @CountProperty(
    'Events of the name of the meter that were stored, with a timestamp in the period.',
  )
  readonly accepted!: number;

  @CountProperty('Repetitions of events, over the whole UTC hours that the period touches.')
  readonly duplicates!: number;

  @CountProperty('Events refused, over the whole UTC hours that the period touches.')
  readonly rejected!: number;

  @CountProperty('Of those accepted, those taken back since.')
  readonly voided!: number;

  @CountProperty('Accepted, not taken back, and fit for the meter.')
  readonly counted!: number;

  @CountProperty('Of those counted, those that are in every bill made of a period they move.')
  readonly billed!: number;

  @CountProperty(
    'Of those counted, those that wait for a bill: `counted` = `billed` + `pending` + `unbillable`.',
  )
  readonly pending!: number;

  @CountProperty(
    'Of those counted, those that no bill will count as things stand: they happened while the customer was subscribed ' +
      'and the meter was not billed, in a trial or a pause or at a plan without its price.',
  )
  readonly unbillable!: number;

  @ApiProperty({
    description:
      'SHA-256, hex, over the idempotency keys of the accepted events, by timestamp (to the millisecond) and then by the bytes of the key, each followed by a line feed.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  readonly digest!: string;
}

export function toUsageProofDto({ digest, ...counts }: UsageProof): UsageProofDto {
  return {
    accepted: toWireAmount(counts.accepted),
    duplicates: toWireAmount(counts.duplicates),
    rejected: toWireAmount(counts.rejected),
    voided: toWireAmount(counts.voided),
    counted: toWireAmount(counts.counted),
    billed: toWireAmount(counts.billed),
    pending: toWireAmount(counts.pending),
    unbillable: toWireAmount(counts.unbillable),
    digest,
  };
}
