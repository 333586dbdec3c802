import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/databases';

/** Tables whose rows are never deleted: the engine archives them. */
const NEVER_DELETED = ['meter', 'plan', 'plan_version'];

/** Foreign keys without an index, with the reason. */
const UNINDEXED: Readonly<Record<string, string>> = {
  entitlement_consumption_entitlement_id_fkey:
    'Each consumption would write it; the deletion of an entitlement is rare and reads the table once.',
};

/** Foreign keys whose columns no index leads with. An index may leave out rows with null in the column. */
const WITHOUT_INDEX = `
  SELECT conname AS name FROM pg_constraint AS key
  WHERE contype = 'f' AND conparentid = 0 AND confrelid::regclass::text <> ALL ($1) AND NOT EXISTS (
    SELECT FROM pg_index AS index
    WHERE indrelid = conrelid AND indisvalid
      AND (SELECT array_agg(number ORDER BY number)
        FROM unnest((indkey::int2[])[0:cardinality(conkey) - 1]) AS number)
        = (SELECT array_agg(number ORDER BY number) FROM unnest(conkey) AS number)
      AND (indpred IS NULL OR pg_get_expr(indpred, indrelid) = format('(%I IS NOT NULL)', (
        SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]))))
  ORDER BY 1`;

describe('every foreign key', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('to rows that are deleted has an index that leads with its columns', async () => {
    const { rows } = await client.query<{ name: string }>(WITHOUT_INDEX, [NEVER_DELETED]);
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(UNINDEXED));
  });
});
