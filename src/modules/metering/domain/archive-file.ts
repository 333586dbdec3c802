/** A file with archived events of one month. */
export interface ArchiveFile {
  /** Start of the month, in UTC. */
  readonly month: Date;
  /** From 1, within the month. */
  readonly number: number;
  /** Path within the directory of the archive. */
  readonly name: string;
  readonly events: number;
  /** Size of the compressed file. */
  readonly bytes: number;
  /** SHA-256 of the compressed file, hex. */
  readonly sha256: string;
}

/** A file that is complete and on disk. */
export interface RecordedFile extends ArchiveFile {
  readonly writtenAt: Date;
  /** Time at which the file was read again and matched; null before. Its events are removed only after that. */
  readonly verifiedAt: Date | null;
}
