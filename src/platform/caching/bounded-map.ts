/**
 * A map for caches. When it is full, it drops the entries that were set first. A caller that wants to keep recently
 * used entries must delete a key and set it again at each use.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  private weight = 0;

  /**
   * @param maxWeight maximum sum of the weights of all values
   * @param weightOf returns the weight of a value. By default, each value weighs 1, so the map holds up to `maxWeight`
   *   entries
   */
  constructor(
    private readonly maxWeight: number,
    private readonly weightOf: (value: Value) => number = () => 1,
  ) {
    super();
  }

  override set(key: Key, value: Value): this {
    if (this.has(key)) this.weight -= this.weightOf(this.get(key) as Value);
    super.set(key, value);
    this.weight += this.weightOf(value);
    for (const oldest of this.keys()) {
      if (this.weight <= this.maxWeight) break;
      this.delete(oldest);
    }
    return this;
  }

  override delete(key: Key): boolean {
    if (this.has(key)) this.weight -= this.weightOf(this.get(key) as Value);
    return super.delete(key);
  }

  override clear(): void {
    this.weight = 0;
    super.clear();
  }
}
