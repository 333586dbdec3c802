import pino from 'pino';

/** After a failed write, lines are dropped for this time. */
const PAUSE_MS = 1_000;
/** Pause before the next attempt to write to a pipe that is full. */
const FULL_PIPE_PAUSE_MS = 100;
/** Maximum size of the lines that wait for a full pipe. Further lines are dropped. */
const MAX_WAITING_BYTES = 4_000_000;
/** Longest time that a process that exits waits for room in a full pipe. */
const LAST_LINES_MS = 1_000;
const NEWLINE = 0x0a;

interface UnwrittenLines {
  readonly bytes: Uint8Array;
  /** Number of lost lines that this line reports; 0 for the lines of the log. */
  readonly reports: number;
}

/**
 * Returns a destination that writes synchronously. If a pipe is full, because its reader stalls, keeps up to 4 MB of
 * lines until it has room, and drops further ones. If a write fails, for example on a full disk or a closed terminal,
 * drops lines for a second, and tries again with the next line. Then writes how many lines were lost. The process can
 * end at any time: its exit writes the lines that wait, for at most a second.
 * @param write writes bytes and returns how many were written
 */
export function steadyOutput(write: (bytes: Uint8Array) => number): pino.DestinationStream {
  const waiting: UnwrittenLines[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let reason = '';
  let retryAt = 0;
  /** True if the last line was written only in part. */
  let endsInLine = false;
  let retry: NodeJS.Timeout | undefined;
  /** Instant, on the clock of `performance`, until which writing waits for a full pipe. */
  let blocksUntil = 0;

  const add = (bytes: Uint8Array, reports = 0): void => {
    waiting.push({ bytes, reports });
    waitingBytes += bytes.length;
  };
  const addNote = (): void => {
    add(Buffer.from(`${endsInLine ? '\n' : ''}${noteOf(lost, reason)}`), lost);
    lost = 0;
  };
  const writeFirst = ({ bytes, reports }: UnwrittenLines): void => {
    const count = write(bytes);
    if (count > 0) endsInLine = bytes[count - 1] !== NEWLINE;
    waitingBytes -= count;
    if (count === bytes.length) waiting.shift();
    else waiting[0] = { bytes: bytes.subarray(count), reports };
  };
  /** Drops the lines that wait. */
  const drop = (): void => {
    for (const { bytes, reports } of waiting) lost += reports > 0 ? reports : countLines(bytes);
    waiting.length = 0;
    waitingBytes = 0;
    retryAt = performance.now() + PAUSE_MS;
  };
  const drain = (): void => {
    clearTimeout(retry);
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      try {
        writeFirst(first);
      } catch (error) {
        reason = codeOf(error);
        if (reason !== 'EAGAIN' && reason !== 'EBUSY') {
          drop();
          return;
        }
        if (performance.now() >= blocksUntil) {
          retry = setTimeout(drain, FULL_PIPE_PAUSE_MS).unref();
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
      }
      if (waiting.length === 0 && lost > 0) addNote();
    }
  };

  process.on('exit', () => {
    blocksUntil = performance.now() + LAST_LINES_MS;
    drain();
  });
  return {
    write: (text) => {
      const lines = Buffer.from(text);
      const isFull = waitingBytes > 0 && waitingBytes + lines.length > MAX_WAITING_BYTES;
      // Once a line has been dropped, later ones are too, until the report of the loss stands before them.
      const isDropping = lost > 0 && (waitingBytes > 0 || performance.now() < retryAt);
      if (isFull || isDropping) {
        lost += countLines(lines);
        drain();
        return;
      }
      if (lost > 0) addNote();
      add(lines);
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
