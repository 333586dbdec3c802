import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MeterEntity } from './meter.entity';
import { MetersController } from './meters.controller';
import { MetersRepository } from './meters.repository';
import { MetersService } from './meters.service';

@Module({
  imports: [TypeOrmModule.forFeature([MeterEntity])],
  controllers: [MetersController],
  providers: [MetersRepository, MetersService],
  exports: [MetersService],
})
export class MetersModule {}
