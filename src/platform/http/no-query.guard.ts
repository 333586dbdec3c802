import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { Request } from 'express';
import { toValidationError, unknownField } from './faults';

class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<Request>();
    // Health probes may add query parameters of their own.
    if (!request.originalUrl.includes('?') || !request.path.startsWith('/v1/')) return true;
    const names = Object.keys(request.query);
    if (names.length > 0) throw toValidationError(names.map((name) => unknownField(name)));
    return true;
  }
}

/** Refuses all query parameters if the handler declares no `@Query`. Otherwise its DTO lists the known ones. */
export const NoUnreadQuery: MethodDecorator = (target, name, descriptor) => {
  if (!readsQuery(target, name)) UseGuards(NoQueryGuard)(target, name, descriptor);
};

/** Parameter decorators run before the decorator of their method. */
function readsQuery(target: object, name: string | symbol): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, name) ??
    {}) as object;
  return Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
