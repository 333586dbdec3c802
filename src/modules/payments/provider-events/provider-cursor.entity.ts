import { Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

/** Position up to which the list of events of a provider was read. */
@Entity('provider_cursor')
export class ProviderCursorEntity {
  @PrimaryColumn({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  /** Time, by our clock, at which the last complete listing began. */
  @InstantColumn() readonly readUntil!: Date;
  /** Time, by the provider's clock, up to which all events are stored. Null: not known. */
  @InstantColumn({ nullable: true }) readonly providerReadUntil!: Date | null;
  /** Time at which the next listing starts, or at which an unfinished listing continues. */
  @InstantColumn() readonly dueAt!: Date;
  /** Time, by our clock, at which the unfinished listing began; null: no listing is unfinished. */
  @InstantColumn({ nullable: true }) readonly listingAt!: Date | null;
  /**
   * Time, by the provider's clock, at which the unfinished listing began; null: not known. Only valid if `pageAfter` is
   * not null.
   */
  @InstantColumn({ nullable: true }) readonly providerListingAt!: Date | null;
  /**
   * The provider's id of the last event that the unfinished listing has read; null: the listing has read no page yet.
   */
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly pageAfter!: string | null;
}
