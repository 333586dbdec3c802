import type { IncomingMessage } from 'node:http';
import { GRANTED_SCOPES, type GrantedScope } from '../../core/access';

/**
 * Caller of an operation.
 * - `command`: a command run on the machine of the service
 * - `open`: any caller if `AUTH` is `open`
 * - `anonymous`: a caller who was not identified, such as the caller of a public operation if `AUTH` is `required`
 */
export interface Principal {
  readonly kind: 'open' | 'anonymous' | 'key' | 'admin' | 'customer_token' | 'command';
  /** Actor of changes: the id of the API key, admin or customer token, `command:<name>`, or else the `kind`. */
  readonly id: string;
  /** All scopes that the caller holds. A caller with `*` also holds every single scope. */
  readonly scopes: ReadonlySet<GrantedScope>;
  /** The only customer whose data the caller may read; null: the caller may read the data of all customers. */
  readonly customerId: string | null;
  /** Largest sum that the caller may refund of one payment, in minor units by currency; null: no limit. */
  readonly refundLimits: ReadonlyMap<string, bigint> | null;
  /** Rate limits of the API key, or of the issuer of a customer token; null: the configured limits apply. */
  readonly requestLimits: RequestLimits | null;
  /** True for an admin who gets more scopes only after enrolling a second factor. */
  readonly mustEnrol: boolean;
  /**
   * True for an admin who signed in with a password. Such an admin needs a second factor if the console requires second
   * factors.
   */
  readonly usedPassword: boolean;
}

/** Requests allowed per minute; null: the configured limit applies. */
export interface RequestLimits {
  readonly perMinute: number | null;
  /** Requests allowed per minute that report or consume usage; null: the configured limit applies. */
  readonly usagePerMinute: number | null;
}

/** Returns a principal that holds these scopes, or every scope if `*` is among them. */
export function principalWith(
  kind: Principal['kind'],
  id: string,
  scopes: readonly GrantedScope[],
  customerId: string | null = null,
): Principal {
  const held = new Set(scopes.includes('*') ? GRANTED_SCOPES : scopes);
  return {
    kind,
    id,
    scopes: held,
    customerId,
    refundLimits: null,
    requestLimits: null,
    mustEnrol: false,
    usedPassword: false,
  };
}

export const OPEN = principalWith('open', 'open', ['*']);
export const ANONYMOUS = principalWith('anonymous', 'anonymous', []);

export function mayReadCustomer(
  { customerId }: Pick<Principal, 'customerId'>,
  ownerId: string,
): boolean {
  return customerId === null || customerId === ownerId;
}

const PRINCIPAL = Symbol('principal');

export function setPrincipal(request: IncomingMessage, principal: Principal): void {
  Object.assign(request, { [PRINCIPAL]: principal });
}

/** Returns the caller of a request; `ANONYMOUS` if no middleware has set a caller, so that access is refused. */
export function principalOf(request: IncomingMessage): Principal {
  const { [PRINCIPAL]: principal } = request as { readonly [PRINCIPAL]?: Principal };
  return principal ?? ANONYMOUS;
}
