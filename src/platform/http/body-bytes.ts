/** Chunks of at least this size are kept without a copy. */
const LARGE_CHUNK_BYTES = 4_096;
const PAGE_BYTES = 16_384;

/**
 * Collects the chunks of a body. Copies small chunks into shared pages, because each chunk that is kept takes 200 to
 * 350 bytes of memory besides its content. Keeps the first chunk without a copy, because most bodies have only one.
 */
export class BodyBytes {
  length = 0;
  private readonly parts: Buffer[] = [];
  private page = Buffer.alloc(0);
  /** Start and end of the bytes of the page that are not in `parts` yet. */
  private start = 0;
  private end = 0;

  add(chunk: Buffer): void {
    if (this.length === 0 || chunk.length >= LARGE_CHUNK_BYTES) {
      this.endPart();
      this.parts.push(chunk);
    } else {
      if (chunk.length > this.page.length - this.end) this.beginPage();
      this.end += chunk.copy(this.page, this.end);
    }
    this.length += chunk.length;
  }

  /** Returns all bytes. If there is one chunk, returns it without copying it. */
  join(): Buffer {
    this.endPart();
    const [first] = this.parts;
    return this.parts.length === 1 && first !== undefined ? first : Buffer.concat(this.parts);
  }

  private beginPage(): void {
    this.endPart();
    const bytes = Math.min(Math.max(this.length, LARGE_CHUNK_BYTES), PAGE_BYTES);
    this.page = Buffer.allocUnsafe(bytes);
    this.start = 0;
    this.end = 0;
  }

  private endPart(): void {
    if (this.end > this.start) this.parts.push(this.page.subarray(this.start, this.end));
    this.start = this.end;
  }
}
