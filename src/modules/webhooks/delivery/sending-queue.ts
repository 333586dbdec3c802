/** Total size of the bodies in flight in this process, in bytes. The active endpoints share it equally. */
const MAX_BYTES_IN_FLIGHT = 67_108_864;
/** Size of the bodies after which other work, such as requests to this process, gets a turn of the event loop. */
const MAX_BYTES_IN_A_TURN = 1_048_576;

/** A notification that is ready to be sent. */
export interface Sending {
  readonly endpointId: string;
  /** Size of the body. */
  readonly bytes: number;
  /** Number of endpoints that share the capacity of this process. */
  readonly endpoints: number;
  /** Time of `performance.now()` after which the sending no longer begins. */
  readonly startBefore: number;
}

interface QueuedSending extends Sending {
  readonly start: (isInTime: boolean) => void;
}

/**
 * Limits how many bytes of notifications are in flight to each endpoint, and how many begin in one turn of the event
 * loop. Notifications of one endpoint begin in the order of their arrival. They do not wait for those of other
 * endpoints. An endpoint with nothing in flight gets its next notification, whatever its size.
 */
export class SendingQueue {
  /** Bytes in flight, by endpoint id. */
  private readonly inFlight = new Map<string, number>();
  private waiting: QueuedSending[] = [];
  private bytesInTurn = 0;
  private isStopped = false;

  /** Calls `send` in its turn. If the turn does not come in time, or this queue is stopped, `send` is never called. */
  async run(sending: Sending, send: () => Promise<void>): Promise<void> {
    const isInTime = await new Promise<boolean>((start) => {
      this.waiting.push({ ...sending, start });
      this.startWaiting();
      if (this.isStopped) this.dropWaiting();
    });
    if (!isInTime) return;
    try {
      await send();
    } finally {
      this.add(sending.endpointId, -sending.bytes);
      this.startWaiting();
    }
  }

  /** Drops the notifications that wait. Later ones begin only if they do not have to wait. */
  stop(): void {
    this.isStopped = true;
    this.dropWaiting();
  }

  private dropWaiting(): void {
    for (const { start } of this.waiting.splice(0)) start(false);
  }

  private startWaiting(): void {
    while (this.waiting.length > 0 && this.bytesInTurn < MAX_BYTES_IN_A_TURN) {
      const next = this.takeNext();
      if (next === undefined) return;
      if (this.bytesInTurn === 0) setImmediate(() => this.beginTurn());
      this.bytesInTurn += next.bytes;
      this.add(next.endpointId, next.bytes);
      next.start(true);
    }
  }

  private beginTurn(): void {
    this.bytesInTurn = 0;
    this.startWaiting();
  }

  /** Takes the first notification that fits. Drops those before it whose time has passed. */
  private takeNext(): QueuedSending | undefined {
    const now = performance.now();
    const late = this.waiting.filter(({ startBefore }) => startBefore < now);
    if (late.length > 0)
      this.waiting = this.waiting.filter(({ startBefore }) => startBefore >= now);
    for (const { start } of late) start(false);
    const full = new Set<string>();
    const index = this.waiting.findIndex(({ endpointId, bytes, endpoints }) => {
      const others = this.inFlight.get(endpointId) ?? 0;
      if (others > 0 && others + bytes > MAX_BYTES_IN_FLIGHT / endpoints) full.add(endpointId);
      return !full.has(endpointId);
    });
    return index === -1 ? undefined : this.waiting.splice(index, 1)[0];
  }

  private add(endpointId: string, bytes: number): void {
    const sum = (this.inFlight.get(endpointId) ?? 0) + bytes;
    if (sum > 0) this.inFlight.set(endpointId, sum);
    else this.inFlight.delete(endpointId);
  }
}
