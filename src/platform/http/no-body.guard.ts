import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { toValidationError, unknownField } from './faults';
import { inputsOf } from './handler-inputs';

/** Refuses a body with any field. An empty DTO class would not do, because its validation refuses `{}` too. */
class NoBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { body } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
    const fields = Object.keys(body);
    if (fields.length > 0) throw toValidationError(fields.map((field) => unknownField(field)));
    return true;
  }
}

/** Refuses all fields of the body if the handler has no `@Body`. With `@Body`, its DTO refuses unknown fields. */
export const NoUnreadBody: MethodDecorator = (target, name, descriptor) => {
  if (!inputsOf(target, name).body) UseGuards(NoBodyGuard)(target, name, descriptor);
};
