/** Lets so many at a time do something that is dear; the others wait in the order they came. */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(most: number) {
    this.free = most;
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // A turn that is passed on is never free in between.
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
