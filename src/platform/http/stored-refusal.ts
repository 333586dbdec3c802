/**
 * Error answer that was stored with its idempotency key. A repeated request gets the same answer, with its own request
 * id.
 */
export class StoredRefusal extends Error {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    private readonly body: string,
  ) {
    super(`kept refusal ${status}`);
  }

  bodyFor(requestId: string): string {
    return JSON.stringify({ ...(JSON.parse(this.body) as object), request_id: requestId });
  }
}
