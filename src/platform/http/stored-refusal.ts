/** A refusal that was stored with its idempotency key. It is sent as it was stored, not as a new problem. */
export class StoredRefusal extends Error {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly body: string,
  ) {
    super(`kept refusal ${status}`);
  }
}
