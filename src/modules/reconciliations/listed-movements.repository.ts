import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { MovementKind, ProviderMovement } from '../payments';
import { ListedMovementEntity } from './listed-movement.entity';

const PAGE = `
  WHERE reconciliation_id = $1 AND kind = $2 AND reference > $3 ORDER BY reference LIMIT $4`;

const LISTED = `
  SELECT reference FROM reconciliation_listed_movement
  WHERE reconciliation_id = $1 AND kind = $2 AND reference = ANY ($3)`;

/** Reads all listed movements of the kind, because no index contains `subject_id`. */
const LISTED_SUBJECTS = `
  SELECT subject_id FROM reconciliation_listed_movement
  WHERE reconciliation_id = $1 AND kind = $2 AND subject_id = ANY ($3)`;

const REMOVE = `
  DELETE FROM reconciliation_listed_movement WHERE (reconciliation_id, kind, reference) IN (
    SELECT reconciliation_id, kind, reference FROM reconciliation_listed_movement
    WHERE reconciliation_id = $1 LIMIT $2)
  RETURNING reference`;

@Injectable()
export class ListedMovementsRepository {
  constructor(private readonly database: Database) {}

  async insert(reconciliationId: string, movements: readonly ProviderMovement[]): Promise<void> {
    const rows = movements.map((movement) => ({ ...movement, reconciliationId }));
    await this.database.insertMany(ListedMovementEntity, rows);
  }

  /** Returns movements whose reference (the provider's id) is greater than `after`, sorted by reference. */
  page(
    reconciliationId: string,
    kind: MovementKind,
    after: string,
    limit: number,
  ): Promise<readonly ProviderMovement[]> {
    const parameters = [reconciliationId, kind, after, limit];
    return this.database.select(ListedMovementEntity, PAGE, parameters);
  }

  /**
   * Returns the given references (ids of the provider) and ids (ours) that the provider listed. Pass our id only if the
   * reference is not known, which is rare.
   */
  async filterListed(
    reconciliationId: string,
    kind: MovementKind,
    references: readonly string[],
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const valuesOf = (statement: string, values: readonly string[]) =>
      this.database.queryValues<string>(statement, [reconciliationId, kind, values]);
    const listed = await valuesOf(LISTED, references);
    return new Set([...listed, ...(ids.length > 0 ? await valuesOf(LISTED_SUBJECTS, ids) : [])]);
  }

  /** Deletes up to `limit` listed movements of a reconciliation. Returns the number of deleted rows. */
  async remove(reconciliationId: string, limit: number): Promise<number> {
    return (await this.database.query(REMOVE, [reconciliationId, limit])).length;
  }
}
