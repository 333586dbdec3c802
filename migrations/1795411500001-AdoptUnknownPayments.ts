import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the provider's id of the object of an event, and the position in a list of events that is being read. */
export class AdoptUnknownPayments1795411500001 implements MigrationInterface {
  readonly name = 'AdoptUnknownPayments1795411500001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "provider_event" ADD "object_id" character varying(40) COLLATE "C"',
    );
    await queryRunner.query(`
      ALTER TABLE "provider_cursor"
        ADD "listing_at" TIMESTAMP(3) WITH TIME ZONE,
        ADD "page_after" character varying(255)
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "provider_cursor" DROP "page_after", DROP "listing_at"');
    await queryRunner.query('ALTER TABLE "provider_event" DROP "object_id"');
  }
}
