import type { PipeTransform } from '@nestjs/common';
import type { Problem } from '../errors';
import { type IdPrefix, isId } from '../ids';

/** An id in the path. One of the wrong shape names nothing, so it is answered like any unknown id. */
export class IdPipe implements PipeTransform<string, string> {
  constructor(
    private readonly prefix: IdPrefix,
    private readonly notFound: Problem<[id: string]>,
  ) {}

  transform(text: string): string {
    if (!isId(this.prefix, text)) throw this.notFound(text.slice(0, 100));
    return text;
  }
}
