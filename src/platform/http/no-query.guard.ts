import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { Request } from 'express';
import { refusalOf, unknownField } from './faults';

class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<Request>();
    // Probes put parameters of their own behind the address of the health routes.
    if (!request.originalUrl.includes('?') || !request.path.startsWith('/v1/')) return true;
    const names = Object.keys(request.query);
    if (names.length > 0) throw refusalOf(names.map((name) => unknownField(name)));
    return true;
  }
}

/** Refuses every query parameter where the handler declares no `@Query`; where it does, its DTO says what is known. */
export const NoUnreadQuery: MethodDecorator = (target, name, descriptor) => {
  if (!readsQuery(target, name)) UseGuards(NoQueryGuard)(target, name, descriptor);
};

/** The decorators of parameters have run when those of their method do. */
function readsQuery(target: object, name: string | symbol): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, name) ??
    {}) as object;
  return Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
