import { createSecretKey, type KeyObject } from 'node:crypto';

/** Key that encrypts stored secrets. A `KeyObject` does not reveal its value in logs or JSON. */
export interface EncryptionKey {
  /** Each encrypted text contains the id of its key, so that decryption can select the key. */
  readonly id: string;
  /** Key of 256 bits, for AES-256-GCM. */
  readonly secret: KeyObject;
}

/** Id and base64 text of a key. The base64 text of 32 bytes has 43 characters and one character of padding. */
const KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/**
 * Parses keys in the form `id:base64 of 32 bytes`, separated by commas. Returns undefined if the form is wrong, or if
 * two entries have the same id or the same key. A key with two ids would stay in use after one of its ids was retired.
 */
export function parseEncryptionKeys(text: string): readonly EncryptionKey[] | undefined {
  const keys: EncryptionKey[] = [];
  for (const part of text.split(',')) {
    const [, id, base64] = KEY.exec(part.trim()) ?? [];
    if (id === undefined || base64 === undefined) return undefined;
    const secret = createSecretKey(Buffer.from(base64, 'base64'));
    if (keys.some((key) => key.id === id || key.secret.equals(secret))) return undefined;
    keys.push({ id, secret });
  }
  return keys;
}
