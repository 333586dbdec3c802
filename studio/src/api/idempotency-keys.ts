import { type ChangeRequest, RequestFailed, sendingAdmin } from './client';

/** Returns a new idempotency key. Does not use `randomUUID`, because it exists on secure origins only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A sent request whose outcome is unknown. */
interface Unanswered {
  readonly key: string;
  readonly isKeyed: boolean;
  /** Sent again with the key, because another body would be refused, whatever a newer preview shows. */
  readonly planVersionId: string | undefined;
  /** Sent again unless a newer one is shown for the same request, so that nothing is done that was never shown. */
  readonly ifMatch?: string | undefined;
  /** Name of the action, without data of an object. Absent after the page was loaded again. */
  readonly action?: string;
  /** Time of the first attempt with the key, in milliseconds since 1970. */
  readonly firstSentAt: number;
  /** Number of attempts that are running, or that got no clear answer and may have taken effect. */
  attempts: number;
}

/** As it is stored. The release 0.1.0 stored no time. */
type Stored = Omit<Unanswered, 'firstSentAt'> & Partial<Pick<Unanswered, 'firstSentAt'>>;

const STORED_AS = 'billing-console-unanswered';
/** Maximum number of requests in the storage. The newest ones are kept. */
const MAX_STORED = 50;
/** Time after which a key is not sent again. The service keeps keys for 30 days. */
const KEY_LASTS_MS = 29 * 86_400_000;

/**
 * Requests whose outcome is unknown, by the hash of the request and the id of the admin, to whom the key belongs. Those
 * with an idempotency key stay until the tab is closed, also if the page is loaded again. The release 0.1.0 stored them
 * without the admin.
 */
const unanswered = new Map<string, Unanswered>(stored());

function stored(): readonly (readonly [hash: string, sent: Unanswered])[] {
  try {
    const sent = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]') as [string, Stored][];
    return sent.map(([hash, one]) => [hash, { firstSentAt: Date.now(), ...one }]);
  } catch {
    return []; // The browser denies access to the storage.
  }
}

function store(): void {
  const keyed = [...unanswered].filter(([, { isKeyed }]) => isKeyed);
  try {
    const text = JSON.stringify(keyed.slice(-MAX_STORED), (name, value: unknown) =>
      name === 'action' ? undefined : value,
    );
    sessionStorage.setItem(STORED_AS, text);
  } catch {
    // The keys last until the page is loaded again.
  }
}

// Keeps the times of requests that were stored without one.
store();

const isOutdated = ({ firstSentAt }: Unanswered): boolean =>
  Date.now() - firstSentAt >= KEY_LASTS_MS;

/**
 * Returns the 64-bit FNV-1a hash of a text. A hash keeps customer data out of the storage. Does not use
 * `crypto.subtle`, because it exists on secure origins only. If two requests had the same hash, they would have the
 * same key, and the service would refuse the second one.
 */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36);
}

/** Returns the text that tells requests apart: without `ifMatch` and `planVersionId`, which a newer preview replaces. */
const textOf = (request: ChangeRequest): string =>
  JSON.stringify({ ...request, ifMatch: undefined, planVersionId: undefined });

/** Returns a repetition of a sent request: with the same plan version, and with the same tag if the request has none. */
const asSent = (request: ChangeRequest, { planVersionId, ifMatch }: Unanswered): ChangeRequest => ({
  ...request,
  planVersionId,
  ifMatch: request.ifMatch ?? ifMatch,
});

/**
 * Returns the hash of a text, followed by the id of the admin who sends it. If the text was sent by an unknown admin,
 * returns the hash alone: a repetition then has the same key, which takes effect once if it is the same admin.
 */
function ownHashOf(text: string): string {
  const hash = hashOf(text);
  const admin = sendingAdmin();
  if (admin === null) return hash;
  const own = `${hash} ${admin}`;
  return unanswered.has(hash) && !unanswered.has(own) ? hash : own;
}

/**
 * Outcome of one attempt to send a request.
 * - `final`: the answer of the service for the key. Every other attempt with the key has the same outcome.
 * - `refused`: refused before it was processed. This says nothing about other attempts with the key.
 * - `unknown`: it may have taken effect.
 */
type Outcome = 'final' | 'refused' | 'unknown';

/** Statuses of refusals that the service stores as the answer for the key: 404 not found, 409 conflict, 422 broken rule. */
const STORED_STATUSES: readonly number[] = [404, 409, 422];

/** Codes of refusals with these statuses that are not stored, because they only ask to wait. */
const NOT_STORED: readonly string[] = [
  'api_key_rolling',
  'invoice_payment_pending',
  'meter_backfilling',
  'payment_disputed',
  'payment_not_refundable',
  'reconciliation_running',
  'subscription_behind',
  'test_clock_advancing',
  'too_many_webhook_secrets',
  'webhook_delivery_pending',
  'webhook_replay_running',
];

/**
 * Classifies how an attempt ended.
 * @param error null after a success
 */
function outcomeOf(error: unknown): Outcome {
  if (error === null) return 'final';
  if (!(error instanceof RequestFailed)) return 'unknown';
  const { status, problem } = error;
  if (problem === null || status >= 500) return 'unknown';
  if (problem.code === 'idempotency_key_in_use') return 'unknown';
  const isStored = !NOT_STORED.includes(problem.code) && STORED_STATUSES.includes(status);
  return isStored ? 'final' : 'refused';
}

/**
 * Idempotency keys of a dialog. Every attempt to send a request has the same key until the outcome of the request is
 * known, even in a dialog that is opened later, or after the page was loaded again. A request with another body has
 * another key. After a final answer, the next request gets a new key: the service would only repeat the answer for the
 * old key. After 29 days it gets one too, because the service forgets the old one.
 */
export class IdempotencyKeys {
  private readonly drafts = new Map<string, string>();

  /** Builds a request with its idempotency key. Returns null if `build` returns null. */
  keyed(build: (idempotencyKey: string) => ChangeRequest | null): KeyedRequest | null {
    const draft = build('');
    if (draft === null) return null;
    const text = textOf(draft);
    const hash = ownHashOf(text);
    const known = unanswered.get(hash);
    const sent = known === undefined || isOutdated(known) ? undefined : known;
    const unsent = this.drafts.get(hash);
    const key = sent?.key ?? (unsent === known?.key ? undefined : unsent) ?? newKey();
    this.drafts.set(hash, key);
    const built = build(key);
    if (built === null) return null;
    const request = sent === undefined ? built : asSent(built, sent);
    return { hash, key, request, isKeyed: textOf(request) !== text };
  }

  /** @param action name of the action, without data of an object */
  begin({ hash, key, isKeyed, request }: KeyedRequest, action: string): void {
    const { planVersionId, ifMatch } = request;
    const known = unanswered.get(hash);
    const { attempts, firstSentAt } =
      known?.key === key ? known : { attempts: 0, firstSentAt: Date.now() };
    const terms = { key, isKeyed, planVersionId, ifMatch };
    unanswered.set(hash, { ...terms, action, firstSentAt, attempts: attempts + 1 });
    store();
  }

  /** @param error null if the request succeeded */
  end({ hash, key }: KeyedRequest, error: unknown): void {
    const outcome = outcomeOf(error);
    if (outcome === 'final') this.drafts.delete(hash);
    const sent = unanswered.get(hash);
    if (outcome === 'unknown' || sent?.key !== key) return;
    sent.attempts -= 1;
    if (outcome === 'final' || sent.attempts === 0) unanswered.delete(hash);
    store();
  }
}

/** Returns true if an attempt to send the request may have taken effect, and the service has given no final answer. */
export function isUnanswered(request: KeyedRequest): boolean {
  return unanswered.get(request.hash)?.key === request.key && !isUnansweredTooLong(request);
}

/** Returns true if such a request was sent so long ago that it would be done again. */
export function isUnansweredTooLong({ hash }: KeyedRequest): boolean {
  const sent = unanswered.get(hash);
  return sent !== undefined && isOutdated(sent);
}

/** As {@link isUnanswered}, if it is not known which admin sent the request. Another admin's would be done again. */
export function isUnansweredOfUnknown(request: KeyedRequest): boolean {
  return sendingAdmin() !== null && !request.hash.includes(' ') && isUnanswered(request);
}

/** As {@link isUnanswered}, for the same request of another admin in this tab. It would be done again, with another key. */
export function isUnansweredOfAnother({ hash }: KeyedRequest): boolean {
  const [request] = hash.split(' ');
  return [...unanswered.keys()].some((one) => one !== hash && one.split(' ')[0] === request);
}

/** Returns the actions of an admin whose outcome is unknown, each once with its number, such as `Refund a payment (2)`. */
export function unansweredOf(admin: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const [hash, { action = 'an earlier change' }] of unanswered)
    if (hash.endsWith(` ${admin}`)) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].map(([action, count]) => (count === 1 ? action : `${action} (${count})`));
}

/** A request with its idempotency key. */
export interface KeyedRequest {
  /**
   * Hash of the request without its key, and without what the preview showed, which may differ between two attempts;
   * followed by the id of the admin, if it is known.
   */
  readonly hash: string;
  readonly key: string;
  readonly request: ChangeRequest;
  /** False if the service does not need a key for the request, because a repetition changes nothing. */
  readonly isKeyed: boolean;
}
