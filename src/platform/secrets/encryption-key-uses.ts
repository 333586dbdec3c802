import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit';
import { Clock } from '../clock';
import { ConfigurationError } from '../config';
import { Database } from '../database';
import { serviceUnavailable } from '../errors';
import type { KeyStatus } from './encryption-key-use.entity';
import { SealedTextError, SecretBox } from './secret-box';

const SAMPLE_OWNER = 'encryption-key-use';
const SAMPLE_TEXT = 'opened';

interface UseRow {
  readonly key_id: string;
  readonly owner: string;
  readonly sealed: string;
  readonly status: KeyStatus;
}

const FIND = `
  SELECT key_id, owner, sealed, status FROM encryption_key_use ORDER BY created_at, key_id`;

const INSERT = `
  INSERT INTO encryption_key_use (key_id, owner, sealed, created_at) VALUES ($1, $2, $3, $4)`;

/**
 * Locks the table, so that processes that start at the same time wait for each other. If they have different keys, the
 * second process then sees the row that the first process has inserted.
 */
const LOCK = 'LOCK TABLE encryption_key_use IN SHARE ROW EXCLUSIVE MODE';

/**
 * First number of the advisory locks that show which encryption keys are in use. The second number is the hash of the
 * id of the encryption key. Each process has a shared lock for the key with which it encrypts.
 */
export const SEALING_LOCK_CLASS = 720_576;

const IS_UNUSED = `SELECT pg_try_advisory_xact_lock(${SEALING_LOCK_CLASS}, hashtext($1)) AS unused`;

const HOLD = `SELECT pg_advisory_xact_lock_shared(${SEALING_LOCK_CLASS}, hashtext($1))`;

const STATUS = 'SELECT status FROM encryption_key_use WHERE key_id = $1';

const SET_STATUS = 'UPDATE encryption_key_use SET status = $2 WHERE key_id = ANY ($1)';

/** Records the encryption keys used in this database, each with a sample that only the right key decrypts. */
@Injectable()
export class EncryptionKeyUses {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Requires that no encryption key was used in this database before. Otherwise no new key may be created, because it
   * could not decrypt the stored secrets.
   * @param path location of the new key
   * @throws {ConfigurationError} when a key was used before
   */
  async requireNone(path: string): Promise<void> {
    const uses = await this.database.query<UseRow>(FIND);
    if (uses.length === 0) return;
    throw new ConfigurationError(
      `The database holds secrets sealed with the encryption key ${keysInUse(uses)}, but ENCRYPTION_KEYS is not set and ` +
        `there is no file ${path}. Set ENCRYPTION_KEYS to the keys of the other processes, or bring back that file.`,
    );
  }

  /**
   * Checks that the keys of this process decrypt everything encrypted in this database, and records the key with which
   * this process encrypts.
   * @param query sends a statement and returns its rows; by default over the pool
   * @throws {ConfigurationError} when a key is missing or has another value than before, or the encrypting key was
   *   retired
   */
  async verify(
    box: SecretBox,
    query = <Row extends object>(sql: string) => this.database.query<Row>(sql),
  ): Promise<void> {
    const uses = await query<UseRow>(FIND);
    if (this.isRecorded(box, uses)) return;
    await this.database.transaction(async () => {
      await this.database.query(LOCK);
      if (this.isRecorded(box, await this.database.query<UseRow>(FIND))) return;
      const sealed = box.seal(SAMPLE_TEXT, SAMPLE_OWNER);
      const now = this.clock.now();
      await this.database.query(INSERT, [box.sealingKeyId, SAMPLE_OWNER, sealed, now]);
    });
  }

  /**
   * Sets the status of all other keys than `keyId`. Skips keys that are already retired. After that, no process that
   * encrypts with one of these keys can start.
   * @returns the ids of the keys whose status was set
   * @throws {ConfigurationError} when a running process encrypts with one of these keys. Also when a key to be
   *   `retired` is `in_use`, because a process has begun to use it during the rotation.
   */
  retireOthers(keyId: string, status: 'retiring' | 'retired'): Promise<readonly string[]> {
    return this.database.transaction(async () => {
      await this.database.query(LOCK);
      const uses = await this.database.query<UseRow>(FIND);
      const others = uses.filter((use) => use.key_id !== keyId && use.status !== 'retired');
      const ids = others.map((use) => use.key_id);
      for (const id of ids) await this.requireUnused(id, keyId);
      const added = others.find((use) => status === 'retired' && use.status === 'in_use');
      if (added !== undefined) throw keyAdded(added.key_id);
      await this.database.query(SET_STATUS, [ids, status]);
      for (const use of others) {
        if (use.status === status) continue;
        await this.audit.record({
          action: 'encryption_key.updated',
          objectId: use.key_id,
          fields: { status },
        });
      }
      return ids;
    });
  }

  /**
   * Keeps a key from being retired before the open transaction ends. The process's own lock is not enough. A process
   * that has lost its session, or is stopping, has no lock, but still answers requests.
   * @throws {ProblemError} `service_unavailable` when the key was retired
   */
  async hold(keyId: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(HOLD, [keyId]);
    // Read after the lock, so that this sees what a rotation has committed meanwhile.
    const status = await this.database.queryValue<KeyStatus>(STATUS, [keyId]);
    if (status === 'in_use') return;
    throw serviceUnavailable('The encryption key of this process was retired.');
  }

  private async requireUnused(id: string, newId: string): Promise<void> {
    const [row] = await this.database.query<{ unused: boolean }>(IS_UNUSED, [id]);
    if (row?.unused === true) return;
    throw new ConfigurationError(
      `A running process seals with the encryption key ${id}. Put ${newId} first in ENCRYPTION_KEYS of every process, ` +
        `keep ${id} behind it, restart them, and run this command again.`,
    );
  }

  private isRecorded(box: SecretBox, uses: readonly UseRow[]): boolean {
    for (const use of uses) {
      if (use.status !== 'in_use') requireOtherSealingKey(box, use, uses);
      if (use.status !== 'retired') requireOpens(box, use);
    }
    return uses.some((use) => use.key_id === box.sealingKeyId);
  }
}

function keyAdded(id: string): ConfigurationError {
  return new ConfigurationError(
    `A process began to seal with the encryption key ${id} during the rotation, so no key was retired. Run this command ` +
      'again.',
  );
}

function keysInUse(uses: readonly UseRow[]): string {
  const inUse = uses.filter(({ status }) => status === 'in_use');
  return inUse.map(({ key_id: id }) => id).join(' or ');
}

function requireOtherSealingKey(
  box: SecretBox,
  { key_id: keyId }: UseRow,
  uses: readonly UseRow[],
): void {
  if (box.sealingKeyId !== keyId) return;
  throw new ConfigurationError(
    `The encryption key ${keyId} was retired by rotate-encryption, but is the first of ENCRYPTION_KEYS. ` +
      `Put the key that replaced it first: ${keysInUse(uses)}.`,
  );
}

function requireOpens(box: SecretBox, { key_id: keyId, owner, sealed }: UseRow): void {
  if (!box.hasKey(keyId)) {
    throw new ConfigurationError(
      `The database holds secrets sealed with the encryption key ${keyId}, which this process does not have. Add it to ` +
        'ENCRYPTION_KEYS: all processes on one database need the same keys. docs/operations.md says how to change keys.',
    );
  }
  try {
    box.open(sealed, owner);
  } catch (error) {
    if (!(error instanceof SealedTextError)) throw error;
    throw new ConfigurationError(
      `The encryption key ${keyId} is not the one that sealed the secrets in this database: its id is the same, its value ` +
        'is another one. Set ENCRYPTION_KEYS to the keys the database was used with before.',
    );
  }
}
