/** Maximum number of spans to hold back. A run with more spans is exported, because it must have found due work. */
const MAX_HELD = 100;

/**
 * A run of due work. Holds its spans back until the run changes something, fails or calls another service. If none of
 * this happens, drops the spans, because most runs find nothing due.
 */
export class DueRun {
  private held: (() => void)[] | null = [];

  /** Ends a span. Holds it back until {@link exportSpans} is called; spans that end after that are exported at once. */
  end(end: (at?: number) => void): void {
    if (this.held === null) {
      end();
      return;
    }
    const at = performance.now();
    this.held.push(() => end(at));
    if (this.held.length > MAX_HELD) this.exportSpans();
  }

  /** Exports the spans held so far. From now on, each span is exported when it ends. */
  exportSpans(): void {
    for (const end of this.held ?? []) end();
    this.held = null;
  }
}
