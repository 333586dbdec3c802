import { Global, Module } from '@nestjs/common';
import { Jobs } from './jobs';
import { Signals } from './signals';

@Global()
@Module({ providers: [Jobs, Signals], exports: [Jobs, Signals] })
export class JobsModule {}
