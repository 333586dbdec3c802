import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { toValidationError, unknownField } from './faults';
import { inputsOf } from './handler-inputs';

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

/** Refuses all query parameters if the handler has no `@Query`. With `@Query`, its DTO refuses unknown parameters. */
export const NoUnreadQuery: MethodDecorator = (target, name, descriptor) => {
  if (!inputsOf(target, name).query) UseGuards(NoQueryGuard)(target, name, descriptor);
};
