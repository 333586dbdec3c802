/** A refusal that was written down with its idempotency key: it goes out as stored, not as a fresh problem. */
export class KeptRefusal extends Error {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly body: string,
  ) {
    super(`kept refusal ${status}`);
  }
}
