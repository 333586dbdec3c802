import type { PipeTransform } from '@nestjs/common';
import { ENTITLEMENT_KEY } from './domain/entitlement';
import { entitlementKeyNotFound } from './entitlements.errors';

/** The key of an entitlement in the path. One of the wrong shape names nothing. */
export class KeyPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (!ENTITLEMENT_KEY.test(text)) throw entitlementKeyNotFound(text);
    return text;
  }
}
