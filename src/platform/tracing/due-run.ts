/** Most spans that a run holds back: more than any run has that finds nothing due. A run with more spans is exported. */
const MAX_HELD = 100;

/**
 * A run of due work. Holds its spans back until the run has changed something, and drops them if it never does, because most runs
 * find nothing due.
 */
export class DueRun {
  private held: (() => void)[] | null = [];

  /** Ends a span. Exports the span now, or once the run has changed something. */
  end(end: (at?: number) => void): void {
    if (this.held === null) {
      end();
      return;
    }
    const at = performance.now();
    this.held.push(() => end(at));
    if (this.held.length > MAX_HELD) this.exportSpans();
  }

  /** Exports the spans held so far, and later ones at once. */
  exportSpans(): void {
    for (const end of this.held ?? []) end();
    this.held = null;
  }
}
