import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Short-lived tokens with which a browser or a gateway reads the data of one customer. */
export class AddCustomerTokens1795410230004 implements MigrationInterface {
  readonly name = 'AddCustomerTokens1795410230004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "customer_token" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "scopes" character varying(40) array NOT NULL,
        "hash" character(64) NOT NULL,
        "expires_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "created_by" character varying(40) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "customer_token_hash_unique" UNIQUE ("hash"),
        CONSTRAINT "customer_token_scopes_check" CHECK (cardinality("scopes") > 0),
        CONSTRAINT "customer_token_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "customer_token_customer_id_fkey" FOREIGN KEY ("customer_id")
          REFERENCES "customer" ("id") ON DELETE CASCADE
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "customer_token_customer_index" ON "customer_token" ("customer_id")',
    );
    await queryRunner.query(
      'CREATE INDEX "customer_token_expires_at_index" ON "customer_token" ("expires_at")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "customer_token"');
  }
}
