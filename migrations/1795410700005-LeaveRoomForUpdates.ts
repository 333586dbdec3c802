import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows are often updated only in columns without an index: leases, amounts, balances and attempts. */
const UPDATED_IN_PLACE = [
  'coupon',
  'customer_access',
  'customer_entitlement',
  'invoice',
  'invoice_series',
  'payment',
  'subscription',
  'webhook_delivery',
];

/** Large tables that contain queues. By default, they would be vacuumed only after a fifth of their rows has changed. */
const QUEUES = [
  'customer_entitlement',
  'event',
  'invoice',
  'payment',
  'subscription',
  'webhook_delivery',
  'webhook_head',
];

/**
 * Leaves room on each page for new versions of its rows, so that an update needs no new index entries. Vacuums queues
 * often, so that a claim meets few dead index entries. The free room exists only on pages that are written from now on.
 */
export class LeaveRoomForUpdates1795410700005 implements MigrationInterface {
  readonly name = 'LeaveRoomForUpdates1795410700005';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of UPDATED_IN_PLACE) {
      await queryRunner.query(`ALTER TABLE "${table}" SET (fillfactor = 80)`);
    }
    for (const table of QUEUES) {
      await queryRunner.query(
        `ALTER TABLE "${table}" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of UPDATED_IN_PLACE) {
      await queryRunner.query(`ALTER TABLE "${table}" RESET (fillfactor)`);
    }
    for (const table of QUEUES) {
      await queryRunner.query(
        `ALTER TABLE "${table}" RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`,
      );
    }
  }
}
