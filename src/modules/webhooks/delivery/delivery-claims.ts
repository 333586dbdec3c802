import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Claims } from '../../../platform/processes';
import { type Capacity, DeliveriesRepository } from './deliveries.repository';
import { type ClaimedDelivery, LEASE_MS } from './domain/delivery';
import { HeadsRepository } from './heads.repository';

export const DELIVERY_WORK = 'webhook-deliveries';

/** Claims deliveries for this process. If the process dies, another process releases its claims. */
@Injectable()
export class DeliveryClaims implements OnModuleInit {
  constructor(
    private readonly claims: Claims,
    private readonly deliveries: DeliveriesRepository,
    private readonly heads: HeadsRepository,
  ) {}

  onModuleInit(): void {
    this.claims.register({
      work: DELIVERY_WORK,
      table: 'webhook_delivery',
      leaseColumn: 'due_at',
      onReleased: (ids) => this.heads.release(ids),
    });
  }

  /** Claims due deliveries up to the free capacity of each endpoint, for {@link LEASE_MS}. */
  claim(now: Date, capacities: readonly Capacity[]): Promise<readonly ClaimedDelivery[]> {
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    return this.claims.claim(DELIVERY_WORK, leaseEndsAt, () =>
      this.deliveries.claim(now, leaseEndsAt, capacities),
    );
  }
}
