/** A refusal stored with its idempotency key. It is sent as stored, not as a new problem. */
export class StoredRefusal extends Error {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly body: string,
  ) {
    super(`kept refusal ${status}`);
  }
}
