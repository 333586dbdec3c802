import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { Request } from 'express';
import { forbidden, unauthenticated } from '../errors';
import { type Principal, principalOf } from './principal';
import type { Access, Scope } from '../../core/access';

/** Metadata of a handler: its `Access`. */
export const ACCESS = 'access';

/**
 * Requires that the caller holds the scope.
 * @throws {ProblemError} `unauthenticated` without a credential, `forbidden` without the scope
 */
function requireScope({ kind, scopes }: Principal, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw kind === 'anonymous' ? unauthenticated('missing') : forbidden(scope);
}

/** One instance for each scope, made with the decorator, so that a request needs no metadata. */
class ScopeGuard implements CanActivate {
  constructor(private readonly scope: Scope) {}

  canActivate(context: ExecutionContext): true {
    requireScope(principalOf(context.switchToHttp().getRequest<Request>()), this.scope);
    return true;
  }
}

/** Declares who may call a handler, and refuses everyone else. */
export function RequireAccess(access: Access): MethodDecorator {
  if (access === 'public') return SetMetadata(ACCESS, access);
  return applyDecorators(SetMetadata(ACCESS, access), UseGuards(new ScopeGuard(access)));
}
