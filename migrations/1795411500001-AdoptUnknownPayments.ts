import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the id that the object of an event has at the provider, and up to where the present list of events has been
 * read.
 */
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
