import { requestTimeout, serviceUnavailable } from '../errors';

/**
 * Minimum average speed, in bytes per millisecond, of a body that takes longer than `longestPauseMs`. Web servers
 * usually demand this speed.
 */
const MIN_BYTES_PER_MS = 0.5;

interface Sender {
  readonly socket: { readonly bytesRead: number };
  /** True if the whole body has arrived, even if this process has not read all of it yet. */
  readonly complete: boolean;
}

export interface StallLimits {
  /** Longest time for which a client may send nothing. */
  readonly longestPauseMs: number;
  /** Aborted when the body is refused because the process stops (a second after a body begins during a stop). */
  readonly stopping: AbortSignal;
}

/**
 * Yields the chunks of a body while it arrives fast enough and the process does not stop. Counts only the time for
 * which this process waits for a chunk, because at other times the client may be waiting for this process.
 * @throws {ProblemError} `request_timeout` if no byte arrives within `longestPauseMs`, or if reading takes longer than
 *   `longestPauseMs` at less than 500 bytes per second
 * @throws {ProblemError} `service_unavailable` if the process stops before the whole body has arrived
 */
export async function* readUnlessStalled<Piece>(
  sender: Sender,
  pieces: AsyncIterator<Piece>,
  { longestPauseMs, stopping }: StallLimits,
): AsyncGenerator<Piece> {
  const progress = new Progress(sender, longestPauseMs);
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const piece = refuseIfStopping(sender, pieces.next(), stopping);
      const next = await refuseIfSlow(progress, piece);
      isWaiting = false;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Does not call `return` while a `next` is pending, because `return` would wait for the chunk of that `next`.
    if (!isWaiting) await pieces.return?.();
  }
}

/** Measures how much of a body arrives while this process waits for it. */
class Progress {
  /** Taken once, because Node's streams set `request.socket` to null when they destroy the request. */
  private readonly socket: Sender['socket'];
  private readonly bytesBefore: number;
  private bytesSeen: number;
  private waitedMs = 0;
  private sinceMs = 0;

  constructor(
    { socket }: Sender,
    readonly longestPauseMs: number,
  ) {
    this.socket = socket;
    this.bytesBefore = socket.bytesRead;
    this.bytesSeen = this.bytesBefore;
  }

  begin(): void {
    this.bytesSeen = this.socket.bytesRead;
    this.sinceMs = performance.now();
  }

  /** Returns true if no byte arrived since the last check. */
  isSilent(): boolean {
    const { bytesRead } = this.socket;
    const isSilent = bytesRead === this.bytesSeen;
    this.bytesSeen = bytesRead;
    return isSilent;
  }

  isTooSlow(): boolean {
    const nowMs = performance.now();
    // Limited to the interval of the checks, because this process may have been suspended.
    this.waitedMs += Math.min(nowMs - this.sinceMs, this.longestPauseMs);
    this.sinceMs = nowMs;
    const broughtMs = (this.socket.bytesRead - this.bytesBefore) / MIN_BYTES_PER_MS;
    return this.waitedMs > this.longestPauseMs + broughtMs;
  }
}

/**
 * Refuses a body that arrives too slowly. Counts received bytes instead of chunks, because many bytes may arrive before
 * a chunk is decompressed.
 */
async function refuseIfSlow<Result>(progress: Progress, piece: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  progress.begin();
  const silence = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      if (progress.isSilent() || progress.isTooSlow()) {
        reject(requestTimeout(progress.longestPauseMs));
      }
    };
    // Checks after pending input was read, because this process may have been suspended.
    timer = setInterval(() => setImmediate(look), progress.longestPauseMs);
  });
  const result = await Promise.race([piece, silence]).finally(() => {
    clearInterval(timer);
  });
  if (progress.isTooSlow()) throw requestTimeout(progress.longestPauseMs);
  return result;
}

/** Refuses a body that has not fully arrived when the process stops. */
async function refuseIfStopping<Result>(
  sender: Sender,
  piece: Promise<Result>,
  stopping: AbortSignal,
): Promise<Result> {
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => {
      if (!sender.complete) {
        reject(
          serviceUnavailable(
            'The service stopped before the whole body arrived. Nothing was stored.',
          ),
        );
      }
    };
    stopping.addEventListener('abort', stop);
    if (stopping.aborted) stop();
  });
  return Promise.race([piece, stopped]).finally(() => {
    stopping.removeEventListener('abort', stop);
  });
}
