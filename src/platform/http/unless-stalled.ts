import { requestTimeout, serviceUnavailable } from '../errors';

/** What a body that takes longer than its longest pause brings at least, as web servers ask of bodies. */
const LEAST_BYTES_PER_MS = 0.5;

interface Sender {
  readonly socket: { readonly bytesRead: number };
  /** Whether all of the body is there, read or not. */
  readonly complete: boolean;
}

export interface Patience {
  /** How long a client may send nothing. */
  readonly longestPauseMs: number;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
}

/**
 * The pieces of a body, as long as its client goes on sending, and the process on running. Time in which nobody asks for a
 * piece does not count: then the client may be waiting for us.
 * @throws {ProblemError} `request_timeout` when no byte has come for so long, or when it takes longer than that and brings
 *   fewer than 500 bytes a second beyond; `service_unavailable` when the process stops before all of it is there
 */
export async function* unlessStalled<Piece>(
  sender: Sender,
  pieces: AsyncIterator<Piece>,
  { longestPauseMs, stopping }: Patience,
): AsyncGenerator<Piece> {
  const progress = new Progress(sender, longestPauseMs);
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const piece = unlessStopping(sender, pieces.next(), stopping);
      const next = await unlessSlow(progress, piece);
      isWaiting = false;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // One that waits for a piece would not end before it came.
    if (!isWaiting) await pieces.return?.();
  }
}

/** How much of a body came in the time in which it was waited for. */
class Progress {
  private readonly bytesBefore: number;
  private bytesSeen: number;
  private waitedMs = 0;
  private sinceMs = 0;

  constructor(
    private readonly sender: Sender,
    readonly longestPauseMs: number,
  ) {
    this.bytesBefore = sender.socket.bytesRead;
    this.bytesSeen = this.bytesBefore;
  }

  begin(): void {
    this.bytesSeen = this.sender.socket.bytesRead;
    this.sinceMs = performance.now();
  }

  /** Whether nothing came since the last look. */
  isSilent(): boolean {
    const { bytesRead } = this.sender.socket;
    const isSilent = bytesRead === this.bytesSeen;
    this.bytesSeen = bytesRead;
    return isSilent;
  }

  isTooSlow(): boolean {
    const nowMs = performance.now();
    // No more than from look to look: the process itself may have been stopped for a while.
    this.waitedMs += Math.min(nowMs - this.sinceMs, this.longestPauseMs);
    this.sinceMs = nowMs;
    const broughtMs = (this.sender.socket.bytesRead - this.bytesBefore) / LEAST_BYTES_PER_MS;
    return this.waitedMs > this.longestPauseMs + broughtMs;
  }
}

/** Bytes of a packed body may come for a long time before there is a piece of what was packed. */
async function unlessSlow<Result>(progress: Progress, piece: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  progress.begin();
  const silence = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      if (progress.isSilent() || progress.isTooSlow()) {
        reject(requestTimeout(progress.longestPauseMs));
      }
    };
    // After what has come is read: the process itself may have been stopped for a while.
    timer = setInterval(() => setImmediate(look), progress.longestPauseMs);
  });
  const result = await Promise.race([piece, silence]).finally(() => {
    clearInterval(timer);
  });
  if (progress.isTooSlow()) throw requestTimeout(progress.longestPauseMs);
  return result;
}

/** What is there is read on; what is not will not be waited for. */
async function unlessStopping<Result>(
  sender: Sender,
  piece: Promise<Result>,
  stopping: AbortSignal,
): Promise<Result> {
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => {
      if (!sender.complete) {
        reject(serviceUnavailable('The service stopped while the body came. Nothing was stored.'));
      }
    };
    stopping.addEventListener('abort', stop);
    if (stopping.aborted) stop();
  });
  return Promise.race([piece, stopped]).finally(() => {
    stopping.removeEventListener('abort', stop);
  });
}
