import { Module } from '@nestjs/common';
import { MetersModule } from '../meters';
import { FeaturesController } from './features.controller';
import { FeaturesRepository } from './features.repository';
import { FeaturesService } from './features.service';

@Module({
  imports: [MetersModule],
  controllers: [FeaturesController],
  providers: [FeaturesRepository, FeaturesService],
  exports: [FeaturesService],
})
export class FeaturesModule {}
