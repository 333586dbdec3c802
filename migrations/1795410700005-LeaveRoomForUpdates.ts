import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows change without a change of an indexed column: leases, amounts, balances and attempts. */
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

/** Large tables with queues: by default they are vacuumed only after a fifth of the rows has changed. */
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
 * Leaves room on each page for new versions of its rows, so that an update writes no index, and vacuums queues often, so that
 * a claim steps over few dead entries. The settings hold for pages written from now on.
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
