/** A refusal that was stored with its idempotency key. It is sent again with the id of the current request. */
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
