import type { MigrationInterface, QueryRunner } from 'typeorm';

const CUSTOMER = `(
  CASE WHEN starts_with("object_id", 'cus_') THEN "object_id"::text ELSE "data" #>> '{object,customer_id}' END)`;

const INDEXES = {
  event_customer_index: `"event" (${CUSTOMER}, "id") WHERE ${CUSTOMER} IS NOT NULL`,
  event_actor_index: '"event" ("actor", "id") WHERE "actor" IS NOT NULL',
};

/** Adds indexes for the lists of the events of a customer, and of the events that an actor caused. */
export class IndexEventsByCustomerAndActor1795411602001 implements MigrationInterface {
  readonly name = 'IndexEventsByCustomerAndActor1795411602001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
