/** What PostgreSQL calls the types, in `pg_type`. */
const TYPES = { int4: 23, text: 25, timestamptz: 1_184, uuid: 2_950 } as const;

/** Instants are counted from 2000 on. */
const FIRST_MS = Date.UTC(2000);
/** No character takes more bytes for each of its UTF-16 units. */
const MOST_BYTES_OF_A_UNIT = 3;

/**
 * Elements of an array that is a parameter of a statement, in the binary format of PostgreSQL (what `array_recv` reads;
 * `pg` hands a Buffer over as it is): a long list costs both sides a fraction of what its text costs. None is null.
 */
export abstract class ArrayElements<Value> {
  private count = 0;
  private end = 0;
  protected bytes: Buffer;

  /**
   * @param type of an element
   * @param room for so many bytes; more is made as it is needed
   */
  protected constructor(
    private readonly type: keyof typeof TYPES,
    room: number,
  ) {
    this.bytes = Buffer.allocUnsafe(room);
  }

  abstract add(value: Value): void;

  /** The array of the elements of all parts, which are of one type. */
  static join(parts: readonly ArrayElements<never>[]): Buffer {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const type = TYPES[parts[0]?.type ?? 'text'];
    // Dimensions, no nulls, and of the one dimension its length and first index.
    const fields = count === 0 ? [0, 0, type] : [1, 0, type, count, 1];
    const header = Buffer.alloc(4 * fields.length);
    for (const [at, field] of fields.entries()) header.writeInt32BE(field, 4 * at);
    return Buffer.concat([header, ...parts.map(({ bytes, end }) => bytes.subarray(0, end))]);
  }

  /** Makes room for an element; where it begins. */
  protected begin(mostBytes: number): number {
    const needed = this.end + 4 + mostBytes;
    if (needed > this.bytes.length) {
      const more = Buffer.allocUnsafe(2 * needed);
      this.bytes.copy(more, 0, 0, this.end);
      this.bytes = more;
    }
    return this.end + 4;
  }

  protected finish(length: number): void {
    this.bytes.writeInt32BE(length, this.end);
    this.end += 4 + length;
    this.count += 1;
  }
}

export class Integers extends ArrayElements<number> {
  constructor(expected: number) {
    super('int4', expected * 8);
  }

  override add(value: number): void {
    const at = this.begin(4);
    this.bytes.writeInt32BE(value, at);
    this.finish(4);
  }
}

/** In hex, without hyphens. */
export class Uuids extends ArrayElements<string> {
  constructor(expected: number) {
    super('uuid', expected * 20);
  }

  override add(hex: string): void {
    const at = this.begin(16);
    this.bytes.write(hex, at, 16, 'hex');
    this.finish(16);
  }
}

export class Texts extends ArrayElements<string> {
  constructor(expected: number) {
    super('text', expected * 48);
  }

  override add(text: string): void {
    const at = this.begin(text.length * MOST_BYTES_OF_A_UNIT);
    this.finish(this.bytes.write(text, at));
  }
}

/** Of `timestamptz`. */
export class Instants extends ArrayElements<Date> {
  constructor(expected: number) {
    super('timestamptz', expected * 12);
  }

  override add(instant: Date): void {
    // Microseconds, of which a number holds those of three centuries.
    const microseconds = BigInt(instant.getTime() - FIRST_MS) * 1_000n;
    const at = this.begin(8);
    this.bytes.writeBigInt64BE(microseconds, at);
    this.finish(8);
  }
}
