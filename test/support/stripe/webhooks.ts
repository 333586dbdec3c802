import Stripe from 'stripe';

/** Fate of a notification. `releaseHeld` sends the held ones, later and possibly in another order. */
export type Fate = 'deliver' | 'lose' | 'double' | 'hold';

interface Endpoint {
  readonly url: string;
  readonly secrets: readonly string[];
}

interface Notification {
  readonly event: Stripe.EventBase;
  readonly endpoint: Endpoint;
  readonly attempt: number;
}

interface Surroundings {
  /** Time in seconds that signatures contain. */
  readonly now: () => number;
  readonly later: (delayMs: number, run: () => void) => void;
}

const MAX_CONCURRENT = 8;
const TIMEOUT_MS = 10_000;
const RETRY_DELAYS_MS = [5, 30, 120, 300, 600, 720, 720].map((minutes) => minutes * 60_000);

/**
 * Signs each event and sends it to the endpoints. Repeats failed deliveries after growing delays, by the clock of the
 * account.
 */
export class Webhooks {
  /** Decides what happens to each notification. */
  fate: (event: Stripe.EventBase) => Fate = () => 'deliver';
  /** Number of deliveries that were answered with a status from 200 to 299. */
  delivered = 0;
  private endpoints: readonly Endpoint[] = [];
  private held: Notification[] = [];
  private queue: Notification[] = [];
  private active = 0;
  private idleWaiters: (() => void)[] = [];
  private closed = false;

  constructor(private readonly surroundings: Surroundings) {}

  /**
   * Registers a receiver. Each notification has one signature for each secret. While a secret is being replaced, there
   * are two secrets.
   */
  register(url: string, ...secrets: readonly [string, ...string[]]): void {
    this.endpoints = [...this.endpoints.filter((each) => each.url !== url), { url, secrets }];
  }

  accept(event: Stripe.EventBase): void {
    for (const endpoint of this.endpoints) {
      const notification = { event, endpoint, attempt: 0 };
      switch (this.fate(event)) {
        case 'deliver':
          this.send(notification);
          break;
        case 'double':
          this.send(notification);
          this.send(notification);
          break;
        case 'hold':
          this.held.push(notification);
          break;
        case 'lose':
          break;
      }
    }
  }

  /** Sends the held notifications, by default the last one first. */
  releaseHeld(order: (held: readonly Notification[]) => readonly Notification[] = reversed): void {
    const held = this.held;
    this.held = [];
    for (const notification of order(held)) this.send(notification);
  }

  /** Sends an event again, like the button "Resend" at Stripe. */
  resend(event: Stripe.EventBase): void {
    for (const endpoint of this.endpoints) this.send({ event, endpoint, attempt: 0 });
  }

  /** Resolves when no delivery is queued or in flight. Retries that are due later do not count. */
  async idle(): Promise<void> {
    while (this.active > 0 || this.queue.length > 0) {
      await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
    }
  }

  close(): void {
    this.closed = true;
    this.queue = [];
  }

  private send(notification: Notification): void {
    if (this.closed) return;
    this.queue.push(notification);
    this.pump();
  }

  private pump(): void {
    while (this.active < MAX_CONCURRENT) {
      const next = this.queue.shift();
      if (!next) break;
      this.active += 1;
      void this.deliver(next).finally(() => {
        this.active -= 1;
        this.pump();
      });
    }
    if (this.active > 0) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  private signature(payload: string, { secrets }: Endpoint): string {
    const timestamp = this.surroundings.now();
    const signatures = secrets.map((secret) =>
      Stripe.webhooks
        .generateTestHeaderString({ payload, secret, timestamp })
        .replace(/^t=\d+,/, ''),
    );
    return [`t=${timestamp}`, ...signatures].join(',');
  }

  private async deliver(notification: Notification): Promise<void> {
    const { event, endpoint, attempt } = notification;
    const payload = JSON.stringify(event, null, 2);
    const delivered = await fetch(endpoint.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': this.signature(payload, endpoint),
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    if (delivered) {
      this.delivered += 1;
      return;
    }
    const delayMs = RETRY_DELAYS_MS[attempt];
    if (delayMs === undefined) return;
    this.surroundings.later(delayMs, () => this.send({ ...notification, attempt: attempt + 1 }));
  }
}

function reversed(held: readonly Notification[]): readonly Notification[] {
  return held.toReversed();
}
