import { Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

/** Position in the list of events of a provider. */
@Entity('provider_cursor')
export class ProviderCursorEntity {
  @PrimaryColumn({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  /** All events up to this time are stored. */
  @InstantColumn() readonly readUntil!: Date;
  /** Time at which the next listing starts. If a listing is unfinished: time at which it continues. */
  @InstantColumn() readonly dueAt!: Date;
  /** Time at which the unfinished listing began; null: no listing is unfinished. */
  @InstantColumn({ nullable: true }) readonly listingAt!: Date | null;
  /**
   * The provider's id of the last event on the page that was read last; null until a listing has read its first page.
   */
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly pageAfter!: string | null;
}
