import type { PipeTransform } from '@nestjs/common';
import type { Problem } from '../errors';
import { type IdPrefix, isId } from '../ids';

/** Validates an id in the path. A malformed id gets the same answer as an unknown one. */
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
