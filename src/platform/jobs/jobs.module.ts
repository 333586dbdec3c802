import { Global, Module } from '@nestjs/common';
import { Jobs } from './jobs';
import { Signals } from './signals';
import { WaitingRowsRepository } from './waiting-rows.repository';

@Global()
@Module({
  providers: [Jobs, Signals, WaitingRowsRepository],
  exports: [Jobs, Signals, WaitingRowsRepository],
})
export class JobsModule {}
