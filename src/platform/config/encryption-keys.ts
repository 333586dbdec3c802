import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key that seals secrets at rest. A `KeyObject` shows nothing of itself in a log or in JSON. */
export interface EncryptionKey {
  /** Stands in the sealed text, so that it tells which key opens it. */
  readonly id: string;
  /** 256 bits, for AES-256-GCM */
  readonly secret: KeyObject;
}

/** 32 bytes are 44 characters of base64, the last of them padding. */
const KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** Keys as `id:base64 of 32 bytes`, separated by commas, or undefined where the text is not that or an id comes twice. */
export function parseEncryptionKeys(text: string): readonly EncryptionKey[] | undefined {
  const keys: EncryptionKey[] = [];
  for (const part of text.split(',')) {
    const [, id, base64] = KEY.exec(part.trim()) ?? [];
    if (id === undefined || base64 === undefined) return undefined;
    if (keys.some((key) => key.id === id)) return undefined;
    keys.push({ id, secret: createSecretKey(Buffer.from(base64, 'base64')) });
  }
  return keys;
}
