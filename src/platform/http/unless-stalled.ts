import { requestTimeout } from '../errors';

interface Sender {
  readonly socket: { readonly bytesRead: number };
}

/**
 * The pieces of a body, as long as its client goes on sending. Time in which nobody asks for a piece does not count: then
 * the client may be waiting for us.
 * @throws {ProblemError} `request_timeout` when no byte has come for so long
 */
export async function* unlessStalled<Piece>(
  sender: Sender,
  pieces: AsyncIterator<Piece>,
  longestPauseMs: number,
): AsyncGenerator<Piece> {
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const next = await unlessSilent(sender, pieces.next(), longestPauseMs);
      isWaiting = false;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // One that waits for a piece would not end before it came.
    if (!isWaiting) await pieces.return?.();
  }
}

/** Bytes of a packed body may come for a long time before there is a piece of what was packed. */
async function unlessSilent<Result>(
  { socket }: Sender,
  result: Promise<Result>,
  longestPauseMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    let bytes = socket.bytesRead;
    const look = (): void => {
      if (socket.bytesRead === bytes) reject(requestTimeout(longestPauseMs));
      bytes = socket.bytesRead;
    };
    // After what has come is read: the process itself may have been stopped for a while.
    timer = setInterval(() => setImmediate(look), longestPauseMs);
  });
  return Promise.race([result, silence]).finally(() => {
    clearInterval(timer);
  });
}
