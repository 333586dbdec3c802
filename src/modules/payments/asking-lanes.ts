/** Providers asked at once about one kind of thing, by one process. */
const LANES = 5;

/** Things whose provider is to be asked, as their module knows them. */
export interface DueAsks {
  /** Ids of at most so many, leased to the caller. */
  readonly claim: (most: number) => Promise<readonly string[]>;
  /** Asks about one of them and writes down what came of it; throws nothing. */
  readonly ask: (id: string) => Promise<void>;
  /** Called when a lane is free again. */
  readonly onFree: () => void;
}

/**
 * Asks about due things side by side. No more are claimed than are asked about at once, so that the lease of each begins
 * with its own call; one that hangs keeps its lane and no other.
 */
export class AskingLanes {
  /** Lanes in use, and those held for a claim under way. */
  private taken = 0;
  private readonly busy = new Set<Promise<void>>();
  private stopping = false;

  constructor(private readonly due: DueAsks) {}

  /** Claims what there are free lanes for and starts asking about it; does not wait for the answers. */
  async fill(): Promise<void> {
    if (this.stopping) return;
    await this.track(this.claimAndStart());
  }

  /** Claims nothing more. */
  stop(): void {
    this.stopping = true;
  }

  /** Resolves once nothing is being asked about. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.allSettled(this.busy);
  }

  private async claimAndStart(): Promise<void> {
    const free = LANES - this.taken;
    if (free === 0) return;
    this.taken += free;
    let ids: readonly string[] = [];
    try {
      ids = await this.due.claim(free);
    } finally {
      this.taken -= free - ids.length;
    }
    for (const id of ids) void this.track(this.askAbout(id));
  }

  private async askAbout(id: string): Promise<void> {
    try {
      await this.due.ask(id);
    } finally {
      this.taken -= 1;
      this.due.onFree();
    }
  }

  private async track(work: Promise<void>): Promise<void> {
    this.busy.add(work);
    try {
      await work;
    } finally {
      this.busy.delete(work);
    }
  }
}
