import {
  IdField,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  TextField,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { RecordedFile } from '../domain/archive-file';
import type { ArchivedMonth } from '../domain/archived-month';

const MAX_EVENT_NAME_LENGTH = 100;
const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const FILE = '2025-03/usage-2025-03-000001-e3b0c44298fc1c14.ndjson.gz';

export class ListArchivedMonthsDto extends ListQueryDto {
  @IdField('cus', 'Id of the customer.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @TextField('Only events of this name.', { max: MAX_EVENT_NAME_LENGTH, optional: true })
  readonly event_name?: string;
}

export class ArchivedMonthDto {
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('Name of the events.', 'api_call') readonly event_name!: string;
  @TextProperty('Month of the timestamps, in UTC.', '2025-03') readonly month!: string;
  @IntegerProperty('Archived events, including voided ones.', 1000) readonly events!: number;
  @IntegerProperty('Archived events that were voided.', 1000) readonly voided!: number;
  @TextProperty(
    'Equal to the `digest` of a usage proof of this month from before archiving.',
    SHA256,
  )
  readonly digest!: string;
  @TextListProperty('Files with the events, in order.', [FILE]) readonly files!: readonly string[];
}

export class UsageArchiveFileDto {
  @TextProperty('Month of the timestamps, in UTC.', '2025-03') readonly month!: string;
  @IntegerProperty('Number of the file within the month, from 1.', 1) readonly number!: number;
  @TextProperty('Path in the directory of the archive.', FILE) readonly name!: string;
  @IntegerProperty('Events in the file, one on each line.', 10_000) readonly events!: number;
  @IntegerProperty('Size of the compressed file.', 482_113) readonly bytes!: number;
  @TextProperty('SHA-256 of the compressed file, hex.', SHA256) readonly sha256!: string;
  @InstantProperty('When it was written.') readonly written_at!: string;
  @InstantProperty(
    'Time at which the file was last read again and matched its `sha256`. Its events are removed from the database only after this check.',
    { nullable: true },
  )
  readonly verified_at!: string | null;
}

export function toArchivedMonthDto({ startAt, files, ...month }: ArchivedMonth): ArchivedMonthDto {
  return toDto(ArchivedMonthDto, { ...month, month: monthOf(startAt), files });
}

export function toUsageArchiveFileDto(file: RecordedFile): UsageArchiveFileDto {
  return toDto(UsageArchiveFileDto, { ...file, month: monthOf(file.month) });
}

function monthOf(startAt: Date): string {
  return startAt.toISOString().slice(0, 7);
}
