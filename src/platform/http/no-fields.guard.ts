import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { validationFailed } from '../errors';

/** An empty class for the body would not do: validation by one refuses every body. */
class NoFieldsGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { body } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
    const errors = Object.keys(body).map((field) => ({
      pointer: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      code: 'unknown_field',
      message: 'is not a field of this request',
    }));
    if (errors.length > 0) throw validationFailed(errors);
    return true;
  }
}

/** Marks a POST that takes no field: a body that holds one is refused. */
export const NoFields = (): MethodDecorator => UseGuards(NoFieldsGuard);
