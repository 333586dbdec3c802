import { Module } from '@nestjs/common';
import { MetersController } from './meters.controller';
import { MetersRepository } from './meters.repository';
import { MetersService } from './meters.service';

@Module({
  controllers: [MetersController],
  providers: [MetersRepository, MetersService],
  exports: [MetersService],
})
export class MetersModule {}
