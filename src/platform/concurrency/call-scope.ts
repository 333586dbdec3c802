import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Holds a value for the duration of an asynchronous call. Disables the AsyncLocalStorage while no call has a value. On
 * Node 20, an enabled AsyncLocalStorage slows down all promises and callbacks. Disabling it makes read requests about 4
 * % cheaper.
 */
export class CallScope<Value> {
  private readonly storage = new AsyncLocalStorage<Value>();
  private calls = 0;

  get current(): Value | undefined {
    return this.storage.getStore();
  }

  /**
   * Runs the callback, and everything that it starts, with `value` as the current value. Use it if no promise signals
   * the end of the call; otherwise use `run`.
   * @returns a function that ends the call; call it once
   */
  start(value: Value, callback: () => void): () => void {
    this.calls += 1;
    this.storage.run(value, callback);
    return () => {
      this.calls -= 1;
      if (this.calls === 0) this.storage.disable();
    };
  }

  /** Runs the work, and everything it calls, with this value. */
  async run<Result>(value: Value, work: () => Promise<Result>): Promise<Result> {
    this.calls += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.calls -= 1;
      if (this.calls === 0) this.storage.disable();
    }
  }
}
