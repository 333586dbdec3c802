import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../config';

const CIPHER = 'aes-256-gcm';
/** Size in bytes of a nonce of GCM. Random nonces practically never repeat within 2^32 uses of a key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const SEALED = /^v1:([A-Za-z0-9_-]{1,32}):([A-Za-z0-9_-]+)$/;

/**
 * Error of a sealed (encrypted) text that cannot be opened. The message has the reason and the key's id, never the
 * content.
 */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError';
}

/**
 * Seals secrets for storage: encrypts them with AES-256-GCM, as `v1:<key id>:<base64url of nonce, ciphertext and tag>`.
 * Each text is bound to an owner, usually the id of its row, so that a copy in another row cannot be opened.
 */
export class SecretBox {
  private readonly secrets: ReadonlyMap<string, KeyObject>;
  private readonly sealingKey: EncryptionKey;

  /**
   * @param keys the first key encrypts, all keys decrypt
   * @param holdKey keeps the key with this id from being retired before the open transaction ends
   */
  constructor(
    keys: readonly EncryptionKey[],
    private readonly holdKey: (id: string) => Promise<void> = () => Promise.resolve(),
  ) {
    const [sealingKey] = keys;
    if (sealingKey === undefined) throw new Error('There is no encryption key.');
    this.sealingKey = sealingKey;
    this.secrets = new Map(keys.map(({ id, secret }) => [id, secret]));
  }

  get sealingKeyId(): string {
    return this.sealingKey.id;
  }

  hasKey(id: string): boolean {
    return this.secrets.has(id);
  }

  /**
   * Seals a text that the open transaction stores. The key is not retired before the transaction ends.
   * @param owner as in {@link seal}
   * @throws {ProblemError} `service_unavailable` when the key was retired
   */
  async sealToStore(text: string, owner: string): Promise<string> {
    await this.holdKey(this.sealingKey.id);
    return this.seal(text, owner);
  }

  /**
   * Seals a text that is not stored. Use {@link sealToStore} for a text to store.
   * @param owner name that the text is bound to; `open` needs the same name
   */
  seal(text: string, owner: string): string {
    const { id, secret } = this.sealingKey;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `v1:${id}:${sealed.toString('base64url')}`;
  }

  /** @throws {SealedTextError} when the text is not sealed or was changed, its key is missing, or `owner` is wrong */
  open(sealedText: string, owner: string): string {
    const [, id, base64url] = SEALED.exec(sealedText) ?? [];
    if (id === undefined || base64url === undefined) {
      throw new SealedTextError('The text is not one that was sealed.');
    }
    const secret = this.secrets.get(id);
    if (secret === undefined) {
      throw new SealedTextError(
        `The text was sealed with the key ${id}, which is not among the encryption keys.`,
      );
    }
    const sealed = Buffer.from(base64url, 'base64url');
    // The last character may contain unused bits. A text in which only these bits were changed is refused as well.
    if (sealed.length >= NONCE_BYTES + TAG_BYTES && sealed.toString('base64url') === base64url) {
      const text = decrypt(sealed, secret, owner);
      if (text !== null) return text;
    }
    throw new SealedTextError(
      `The text sealed with the key ${id} was changed, or belongs to another owner than ${owner}, or the key with this id has another value than before.`,
    );
  }
}

/** Returns null if the authentication tag does not match. */
function decrypt(sealed: Buffer, secret: KeyObject, owner: string): string | null {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
