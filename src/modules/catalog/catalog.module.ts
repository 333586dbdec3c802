import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AddonEntity } from './addon.entity';
import { AddonsController } from './addons.controller';
import { AddonsRepository } from './addons.repository';
import { CatalogService } from './catalog.service';
import { PriceEntity } from './price.entity';

@Module({
  imports: [TypeOrmModule.forFeature([AddonEntity, PriceEntity])],
  controllers: [AddonsController],
  providers: [AddonsRepository, CatalogService],
  exports: [CatalogService],
})
export class CatalogModule {}
