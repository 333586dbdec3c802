import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../jobs';
import { Idempotency } from './idempotency';

const BATCH_SIZE = 1_000;
const EVERY_MS = 60_000;

@Injectable()
export class ExpiredKeys implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly idempotency: Idempotency,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'expired-idempotency-keys',
      idleMs: EVERY_MS,
      runDue: async () => (await this.idempotency.deleteExpired(BATCH_SIZE)) === BATCH_SIZE,
    });
  }
}
