import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { Request } from 'express';
import { forbidden, notForCustomerToken, scopeNotHeld, unauthenticated } from '../errors';
import { nameOperation } from './actor';
import { type Principal, principalOf } from './principal';
import type { Access, GrantedScope, Scope } from '../../core/access';

/** Metadata key under which the `Access` of a handler is stored. */
export const ACCESS = 'access';

/**
 * Requires that the caller holds the scope.
 * @throws {ProblemError} `unauthenticated` without a credential, `forbidden` without the scope
 */
export function requireScope({ kind, scopes, mustEnrol }: Principal, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw kind === 'anonymous' ? unauthenticated('missing') : forbidden(scope, mustEnrol);
}

/**
 * Requires that the caller holds each of these scopes. The scopes are those that the caller wants to grant, or those of
 * a key or an account that the caller wants to change.
 * @throws {ProblemError} `scope_not_held`
 */
export function requireHeldScopes(
  scopes: readonly GrantedScope[],
  caller: Pick<Principal, 'scopes'>,
): void {
  // Also a scope that another release gave to the key, and that this one does not know.
  if (caller.scopes.has('*')) return;
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing !== undefined) throw scopeNotHeld(missing);
}

/**
 * Place of the customer id in a request. A customer token is accepted only with the id of its own customer. With
 * `answer`, the request contains no customer id. The handler must then check that the data belongs to the customer of
 * the token.
 */
export type CustomerPlace = { readonly path: string } | { readonly query: string } | 'answer';

function namesCustomer(request: Request, place: CustomerPlace, customerId: string): boolean {
  if (place === 'answer') return true;
  if ('path' in place) return request.params[place.path] === customerId;
  return request.query[place.query] === customerId;
}

/**
 * Refuses callers without the scope, and customer tokens for data of another customer. Each handler has its own
 * instance, so that a request need not look up the metadata of the handler.
 */
class ScopeGuard implements CanActivate {
  constructor(
    private readonly scope: Scope,
    private readonly place: CustomerPlace | null,
  ) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<Request>();
    nameOperation(request, context.getHandler().name);
    const principal = principalOf(request);
    requireScope(principal, this.scope);
    const { customerId } = principal;
    if (customerId === null) return true;
    if (this.place === null || !namesCustomer(request, this.place, customerId)) {
      throw notForCustomerToken();
    }
    return true;
  }
}

/** Allows every caller. Like {@link ScopeGuard}, stores the `operationId` on the request. */
class PublicGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    nameOperation(context.switchToHttp().getRequest<Request>(), context.getHandler().name);
    return true;
  }
}

/**
 * Declares who may call a handler, and refuses everyone else.
 * @param place part of the request that contains the id of the customer; null: customer tokens are refused
 */
export function RequireAccess(access: Access, place: CustomerPlace | null): MethodDecorator {
  if (access === 'public') {
    return applyDecorators(SetMetadata(ACCESS, access), UseGuards(PublicGuard));
  }
  return applyDecorators(SetMetadata(ACCESS, access), UseGuards(new ScopeGuard(access, place)));
}
