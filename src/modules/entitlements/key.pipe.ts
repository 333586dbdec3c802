import type { PipeTransform } from '@nestjs/common';
import { FEATURE_KEY } from '../features';
import { entitlementKeyNotFound } from './entitlements.errors';

/** Refuses a malformed key with `entitlement_key_not_found`, like an unknown key. */
export class KeyPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (!FEATURE_KEY.test(text)) throw entitlementKeyNotFound(text);
    return text;
  }
}
