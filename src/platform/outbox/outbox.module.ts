import { Global, Module } from '@nestjs/common';
import { EventLog } from './event-log';
import { Outbox } from './outbox';

@Global()
@Module({
  providers: [EventLog, Outbox],
  exports: [EventLog, Outbox],
})
export class OutboxModule {}
