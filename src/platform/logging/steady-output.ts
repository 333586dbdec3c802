import pino from 'pino';

/** After a failed write, lines are dropped for this time. */
const PAUSE_MS = 1_000;
/** Pause before the next attempt to write to a pipe that is full. */
const FULL_PIPE_PAUSE_MS = 100;
const NEWLINE = 0x0a;

/**
 * Returns a destination that writes synchronously. If a write fails, for example on a full disk or a closed terminal,
 * drops lines for a second, tries again with the next line, and then writes how many lines were lost. It keeps no lines
 * and no timers, so that the process can end.
 * @param write writes bytes and returns how many were written
 */
export function steadyOutput(write: (bytes: Uint8Array) => number): pino.DestinationStream {
  let lost = 0;
  let reason = '';
  let retryAt = 0;
  /** True if the last line was written only in part. */
  let endsInLine = false;

  return {
    write: (text) => {
      const lines = Buffer.from(text);
      if (lost > 0 && performance.now() < retryAt) {
        lost += countLines(lines);
        return;
      }
      const note = lost > 0 ? `${endsInLine ? '\n' : ''}${noteOf(lost, reason)}` : '';
      let rest = note === '' ? lines : Buffer.concat([Buffer.from(note), lines]);
      try {
        while (rest.length > 0) {
          const count = writeWhenFree(write, rest);
          if (count > 0) endsInLine = rest[count - 1] !== NEWLINE;
          rest = rest.subarray(count);
        }
        lost = 0;
      } catch (error) {
        const isNoteWritten = rest.length <= lines.length;
        lost = isNoteWritten ? countLines(rest) : lost + countLines(lines);
        reason = codeOf(error);
        retryAt = performance.now() + PAUSE_MS;
      }
    },
  };
}

/** Writes bytes as soon as a full pipe has room for them. */
function writeWhenFree(write: (bytes: Uint8Array) => number, bytes: Uint8Array): number {
  for (;;) {
    try {
      return write(bytes);
    } catch (error) {
      if (!['EAGAIN', 'EBUSY'].includes(codeOf(error))) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
    }
  }
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
