import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MetersModule } from '../meters';
import { FeatureEntity } from './feature.entity';
import { FeaturesController } from './features.controller';
import { FeaturesRepository } from './features.repository';
import { FeaturesService } from './features.service';

@Module({
  imports: [MetersModule, TypeOrmModule.forFeature([FeatureEntity])],
  controllers: [FeaturesController],
  providers: [FeaturesRepository, FeaturesService],
  exports: [FeaturesService],
})
export class FeaturesModule {}
