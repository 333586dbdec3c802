import pino from 'pino';

/** Time for which lines are dropped after a failed write, in milliseconds. */
const PAUSE_MS = 1_000;
/** Pause before the next attempt to write to a pipe that is full. */
const FULL_PIPE_PAUSE_MS = 100;
/** Pause before the next attempt to write to a full pipe, in a process that exits. */
const EXIT_PAUSE_MS = 2;
/** Maximum size of the lines that wait for a full pipe. Further lines are dropped. */
const MAX_WAITING_BYTES = 4_000_000;
/** Longest time for which an exit waits for a full pipe from which nothing is read. */
const UNREAD_MS = 1_000;
/**
 * Longest time for which an exit writes all lines to a pipe that is read slowly. After that, only the newest lines are
 * kept.
 */
const SLOW_MS = 2_000;
/** Size of the newest lines that are kept after {@link SLOW_MS}. */
const NEWEST_BYTES = 65_536;
const NEWLINE = 0x0a;

interface UnwrittenLines {
  readonly bytes: Uint8Array;
  /** Number of lost lines that this line reports; 0 for the lines of the log. */
  readonly reports: number;
}

/** Log lines that are not written yet, the oldest first. */
class WaitingLines {
  /** Number of bytes of all waiting lines. */
  size = 0;
  private readonly lines: UnwrittenLines[] = [];

  get first(): Uint8Array | undefined {
    return this.lines[0]?.bytes;
  }

  add(bytes: Uint8Array): void {
    this.lines.push({ bytes, reports: 0 });
    this.size += bytes.length;
  }

  /** @param note line that reports that `lost` lines were lost */
  addNote(note: Uint8Array, lost: number, where: 'push' | 'unshift'): void {
    this.lines[where]({ bytes: note, reports: lost });
    this.size += note.length;
  }

  /** Takes away the first `count` bytes, which have been written. */
  takeFirst(count: number): void {
    const [first] = this.lines;
    if (first === undefined) return;
    this.size -= count;
    if (count === first.bytes.length) this.lines.shift();
    else this.lines[0] = { ...first, bytes: first.bytes.subarray(count) };
  }

  /** Drops the oldest lines until at most `keptBytes` are left. Returns how many lines are lost. */
  drop(keptBytes: number): number {
    let lost = 0;
    for (const line of [...this.lines]) {
      if (this.size <= keptBytes) break;
      lost += line.reports > 0 ? line.reports : countLines(line.bytes);
      this.takeFirst(line.bytes.length);
    }
    return lost;
  }
}

/**
 * Returns a destination that writes synchronously.
 * - Full pipe, because its reader stalls: keeps up to 4 MB of lines until there is room, and drops further lines.
 * - Failed write, for example on a full disk: drops lines for a second, and tries again with the next line.
 * - After lines were lost: writes how many.
 * - Exit of the process: writes the lines that wait, as long as they are read. After two seconds, writes only the
 *   number of lost lines and the newest lines.
 * @param write writes bytes and returns how many were written
 */
export function steadyOutput(write: (bytes: Uint8Array) => number): pino.DestinationStream {
  const waiting = new WaitingLines();
  let lost = 0;
  let reason = '';
  let retryAt = 0;
  /** True if the last line was written only in part. */
  let endsInLine = false;
  let retry: NodeJS.Timeout | undefined;
  /**
   * Instants, on the clock of `performance`, until which an exit waits for a full pipe. `unreadUntil` applies while
   * nothing is read from the pipe, `exitsUntil` to the whole exit.
   */
  let unreadUntil = 0;
  let exitsUntil = 0;

  const addNote = (where: 'push' | 'unshift' = 'push'): void => {
    const note = `${endsInLine ? '\n' : ''}${noteOf(lost, reason)}`;
    waiting.addNote(Buffer.from(note), lost, where);
    lost = 0;
  };
  const writeFirst = (bytes: Uint8Array): void => {
    const count = write(bytes);
    waiting.takeFirst(count);
    if (count === 0) return;
    endsInLine = bytes[count - 1] !== NEWLINE;
    unreadUntil = performance.now() + UNREAD_MS;
  };
  const drain = (): void => {
    clearTimeout(retry);
    for (let first = waiting.first; first !== undefined; first = waiting.first) {
      try {
        writeFirst(first);
      } catch (error) {
        reason = codeOf(error);
        if (reason !== 'EAGAIN' && reason !== 'EBUSY') {
          lost += waiting.drop(0);
          retryAt = performance.now() + PAUSE_MS;
          return;
        }
        if (performance.now() >= Math.min(unreadUntil, exitsUntil)) {
          retry = setTimeout(drain, FULL_PIPE_PAUSE_MS).unref();
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_PAUSE_MS);
      }
      if (waiting.size === 0 && lost > 0) addNote();
    }
  };

  process.on('exit', () => {
    unreadUntil = performance.now() + UNREAD_MS;
    exitsUntil = performance.now() + SLOW_MS;
    drain();
    const dropped = waiting.drop(NEWEST_BYTES);
    lost += dropped;
    if (dropped > 0) addNote('unshift');
    exitsUntil += UNREAD_MS;
    drain();
  });
  return {
    write: (text) => {
      const lines = Buffer.from(text);
      const isFull = waiting.size > 0 && waiting.size + lines.length > MAX_WAITING_BYTES;
      // Once a line has been dropped, later ones are too, until the report of the loss stands before them.
      const isDropping = lost > 0 && (waiting.size > 0 || performance.now() < retryAt);
      if (isFull || isDropping) {
        lost += countLines(lines);
        drain();
        return;
      }
      if (lost > 0) addNote();
      waiting.add(lines);
      drain();
    },
  };
}

function noteOf(lost: number, code: string): string {
  const text = 'log lines were lost, because they could not be written';
  const fields = JSON.stringify({ context: 'logging', lost, code, msg: text }).slice(1);
  return `{"level":"error"${pino.stdTimeFunctions.isoTime()},${fields}\n`;
}

function countLines(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + Number(byte === NEWLINE), 0);
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code);
}
