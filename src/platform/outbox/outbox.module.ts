import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEntity } from './event.entity';
import { EventLog } from './event-log';
import { Outbox } from './outbox';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([EventEntity])],
  providers: [EventLog, Outbox],
  exports: [EventLog, Outbox],
})
export class OutboxModule {}
