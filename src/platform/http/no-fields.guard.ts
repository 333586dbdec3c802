import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { toValidationError, unknownField } from './faults';

/** Refuses a body with any field. An empty DTO class would not do, because its validation refuses `{}` too. */
class NoFieldsGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { body } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
    const fields = Object.keys(body);
    if (fields.length > 0) throw toValidationError(fields.map((field) => unknownField(field)));
    return true;
  }
}

/** Marks a POST that takes no fields. A body with any field is refused. */
export const NoFields = (): MethodDecorator => UseGuards(NoFieldsGuard);
