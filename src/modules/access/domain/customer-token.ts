import type { Scope } from '../../../core/access';

export const CUSTOMER_SCOPES = [
  'entitlements:read',
  'invoices:read',
] as const satisfies readonly Scope[];

export type CustomerScope = (typeof CUSTOMER_SCOPES)[number];

/** A short-lived secret that lets a browser or gateway read data of one customer. */
export interface CustomerToken {
  readonly id: string;
  readonly customerId: string;
  readonly scopes: readonly CustomerScope[];
  readonly expiresAt: Date;
  /** Id of the API key or admin that issued the token; `open` if the caller had no credential (`AUTH=open`). */
  readonly createdBy: string;
  /** True if an admin issued the token in a session that began with a password. */
  readonly issuerUsedPassword: boolean;
  readonly createdAt: Date;
}

export interface CustomerTokenTerms {
  readonly scopes: readonly CustomerScope[];
  readonly lifetimeMs: number;
}
