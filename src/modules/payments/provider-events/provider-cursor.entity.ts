import { Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

/** Position up to which the list of events of a provider was read. */
@Entity('provider_cursor')
export class ProviderCursorEntity {
  @PrimaryColumn({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  /** All events up to this time are stored. */
  @InstantColumn() readonly readUntil!: Date;
  /** Time at which the next listing starts, or at which an unfinished listing continues. */
  @InstantColumn() readonly dueAt!: Date;
  /** Time at which the unfinished listing began; null: none is unfinished. */
  @InstantColumn({ nullable: true }) readonly listingAt!: Date | null;
  /** The provider's id of the last event that the unfinished listing has read; null: it has read no page yet. */
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly pageAfter!: string | null;
}
