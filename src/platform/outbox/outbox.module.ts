import { Global, Module } from '@nestjs/common';
import { EventLog } from './event-log';
import { EventRetention } from './event-retention';
import { Outbox } from './outbox';

@Global()
@Module({
  providers: [EventLog, EventRetention, Outbox],
  exports: [EventLog, Outbox],
})
export class OutboxModule {}
