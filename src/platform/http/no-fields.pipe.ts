import type { PipeTransform } from '@nestjs/common';
import { validationFailed } from '../errors';

/** The body of a POST that takes no field. An empty class would not do: validation by one refuses every body. */
export class NoFieldsPipe implements PipeTransform<object, undefined> {
  transform(body: object): undefined {
    const errors = Object.keys(body).map((field) => ({
      pointer: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      code: 'unknown_field',
      message: 'is not a field of this request',
    }));
    if (errors.length > 0) throw validationFailed(errors);
    return undefined;
  }
}
