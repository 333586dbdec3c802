import type { PipeTransform } from '@nestjs/common';
import { FEATURE_KEY } from '../features';
import { entitlementKeyNotFound } from './entitlements.errors';

/** Reads an entitlement key in a path. A malformed key is answered like an unknown one. */
export class KeyPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (!FEATURE_KEY.test(text)) throw entitlementKeyNotFound(text);
    return text;
  }
}
