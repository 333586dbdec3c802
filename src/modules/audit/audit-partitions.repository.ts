import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';

/** Creating a partition waits for writers, and writers wait behind it; so it gives up soon and is tried again. */
const LONGEST_WAIT_MS = 200;

/** Partition of a table for one month. */
export interface Partition {
  readonly name: string;
  readonly table: string;
  /** RFC 3339 instants; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
}

@Injectable()
export class AuditPartitionsRepository {
  constructor(private readonly database: Database) {}

  async exists(name: string): Promise<boolean> {
    const [row] = await this.database.query<{ exists: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS exists',
      [name],
    );
    return row?.exists === true;
  }

  /** Creates a partition in a transaction of its own. Fails if writers do not let it in soon. */
  create({ name, table, from, to }: Partition): Promise<void> {
    return this.database.transaction(async () => {
      await this.database.query(`SET LOCAL lock_timeout = ${LONGEST_WAIT_MS}`);
      await this.database.query(
        `CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF "${table}"
         FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
    });
  }
}
