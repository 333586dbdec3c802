import { Injectable } from '@nestjs/common';
import { ConfigurationError } from '../config';
import { Database } from '../database';
import { EncryptionKeyUses } from './encryption-key-uses';
import { type SealedColumn, SealedColumns } from './sealed-columns';
import { type SealedText, SealedTextsRepository } from './sealed-texts.repository';
import { SealedTextError, SecretBox } from './secret-box';

/** Maximum number of rows that one statement reads or changes. */
const ROWS_PER_BATCH = 1_000;
const MAX_NAMED = 10;
/**
 * Longest wait for the end of open transactions, in milliseconds. A process that has lost its `ProcessSession` does not
 * count as running, but may still commit texts that it encrypted with a former key.
 */
const MAX_WAIT_FOR_TRANSACTIONS_MS = 60_000;

export interface RotatedColumn {
  readonly table: string;
  /** Number of texts in the column that were encrypted again. */
  readonly count: number;
}

export interface Rotation {
  readonly keyId: string;
  readonly retiredKeyIds: readonly string[];
}

/**
 * Encrypts all stored secrets with the first encryption key. Skips secrets that are already encrypted with it, so an
 * interrupted rotation can be started again. Other processes may run meanwhile, if they have all keys.
 */
@Injectable()
export class KeyRotation {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly uses: EncryptionKeyUses,
    private readonly sealedColumns: SealedColumns,
    private readonly texts: SealedTextsRepository,
  ) {}

  /**
   * @param report called for each column after all its texts are encrypted again
   * @throws {ConfigurationError} when a running process encrypts with another key, a text cannot be decrypted, or a
   *   transaction that may have encrypted a text with another key stays open
   * @throws {ProblemError} `service_unavailable` when another rotation retired the key of this one meanwhile
   */
  async run(report: (column: RotatedColumn) => void): Promise<Rotation> {
    const keyId = this.box.sealingKeyId;
    await this.uses.retireOthers(keyId, 'retiring');
    const unreadable: string[] = [];
    for (const column of this.sealedColumns.all) {
      const count = await this.reseal(column, unreadable);
      report({ table: column.table, count });
    }
    if (unreadable.length > 0) throw unreadableTexts(unreadable);
    return { keyId, retiredKeyIds: await this.uses.retireOthers(keyId, 'retired') };
  }

  private async reseal(column: SealedColumn, unreadable: string[]): Promise<number> {
    const keyId = this.box.sealingKeyId;
    if (!(await this.texts.untilWritersEnd(column, MAX_WAIT_FOR_TRANSACTIONS_MS)))
      throw openWriter(column);
    await column.deleteExpired?.();
    let count = 0;
    let after = '';
    for (;;) {
      const page = await this.texts.page(column, { after, keyId, limit: ROWS_PER_BATCH });
      const changes = page.stale.flatMap((former) => {
        const sealed = this.sealedAgain(column, former);
        if (sealed === null) unreadable.push(`${column.table} ${former.key}`);
        return sealed === null ? [] : [{ former, sealed }];
      });
      if (changes.length > 0) {
        count += await this.database.transaction(async () => {
          await this.uses.hold(keyId);
          return this.texts.replace(column, changes);
        });
      }
      if (page.lastKey === null) return count;
      after = page.lastKey;
    }
  }

  /** Encrypts a text again with the first key. Returns null if the text cannot be decrypted. */
  private sealedAgain({ ownerOf }: SealedColumn, { key, sealed }: SealedText): string | null {
    const owner = ownerOf(key);
    try {
      return this.box.seal(this.box.open(sealed, owner), owner);
    } catch (error) {
      if (error instanceof SealedTextError) return null;
      throw error;
    }
  }
}

function openWriter({ table }: SealedColumn): ConfigurationError {
  return new ConfigurationError(
    `A transaction that has written to ${table} is still open after ${MAX_WAIT_FOR_TRANSACTIONS_MS / 1_000} s, and may contain a secret ` +
      'that a former key encrypted. End it, and run this command again.',
  );
}

function unreadableTexts(names: readonly string[]): ConfigurationError {
  return new ConfigurationError(
    `${names.length} stored secrets cannot be opened, so the former keys stay in use: ` +
      `${names.slice(0, MAX_NAMED).join(', ')}. They were changed in the database, or sealed with a lost key. Replace or ` +
      'delete them, and run this command again.',
  );
}
