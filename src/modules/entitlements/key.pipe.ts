import type { PipeTransform } from '@nestjs/common';
import { ENTITLEMENT_KEY } from './domain/entitlement';
import { entitlementKeyNotFound } from './entitlements.errors';

/** Reads an entitlement key in a path. A malformed key is answered like an unknown one. */
export class KeyPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (!ENTITLEMENT_KEY.test(text)) throw entitlementKeyNotFound(text);
    return text;
  }
}
