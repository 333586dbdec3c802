import { IntegerProperty, NestedListProperty, TextProperty, toDto } from '../../../platform/http';
import type { UsageProof } from '../usage-store';
import { ArchivedMonthDto, toArchivedMonthDto } from './usage-archive.dto';

export class UsageProofDto {
  @IntegerProperty(
    'Stored events with the event name of the meter and a timestamp in the period.',
    1000,
  )
  readonly accepted!: number;
  @IntegerProperty('Repeated events, in the whole UTC hours that the period touches.', 1000)
  readonly duplicates!: number;
  @IntegerProperty('Rejected events, in the whole UTC hours that the period touches.', 1000)
  readonly rejected!: number;
  @IntegerProperty('Accepted events that were voided.', 1000) readonly voided!: number;
  @IntegerProperty('Accepted events that are not voided and that the meter counts.', 1000)
  readonly counted!: number;
  @IntegerProperty('Counted events billed in every billed period they belong to.', 1000)
  readonly billed!: number;
  @IntegerProperty(
    'Counted events that wait for a bill: `counted` = `billed` + `pending` + `unbillable`.',
    1000,
  )
  readonly pending!: number;
  @IntegerProperty(
    'Counted events that are never billed: in a trial, a pause or an unpaid start, or on a plan without a price for the meter.',
    1000,
  )
  readonly unbillable!: number;
  @TextProperty(
    'SHA-256, hex, over the idempotency keys of the accepted events, by timestamp (to the millisecond) and then by the bytes of the key, each followed by a line feed.',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
  readonly digest!: string;
  @NestedListProperty(
    ArchivedMonthDto,
    'Archived months of the period, oldest first. Of the numbers above, only `duplicates` and `rejected` include their events.',
  )
  readonly archived!: readonly ArchivedMonthDto[];
}

export function toUsageProofDto(proof: UsageProof): UsageProofDto {
  return toDto(UsageProofDto, { ...proof, archived: proof.archived.map(toArchivedMonthDto) });
}
