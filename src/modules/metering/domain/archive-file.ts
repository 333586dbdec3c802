export interface ArchiveFile {
  /** Start of the month, in UTC. */
  readonly month: Date;
  /** Number of the file within the month, from 1. */
  readonly number: number;
  /** Path within the directory of the archive. */
  readonly name: string;
  readonly events: number;
  /** Size of the compressed file. */
  readonly bytes: number;
  /** SHA-256 of the compressed file, hex. */
  readonly sha256: string;
}

/** An archive file that is complete and on disk. */
export interface RecordedFile extends ArchiveFile {
  readonly writtenAt: Date;
  /**
   * Time at which the file was last read again and matched its digest; null if never. Its events are deleted from the
   * database only within an hour after this time.
   */
  readonly verifiedAt: Date | null;
}
