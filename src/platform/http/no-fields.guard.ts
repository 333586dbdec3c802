import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { refusalOf, unknownField } from './faults';

/** An empty class for the body would not do: validation by one refuses every body. */
class NoFieldsGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { body } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
    const fields = Object.keys(body);
    if (fields.length > 0) throw refusalOf(fields.map((field) => unknownField(field)));
    return true;
  }
}

/** Marks a POST that takes no field: a body that holds one is refused. */
export const NoFields = (): MethodDecorator => UseGuards(NoFieldsGuard);
