import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TaxRateEntity } from './tax-rate.entity';
import { TaxRatesController } from './tax-rates.controller';
import { TaxRatesRepository } from './tax-rates.repository';
import { TaxRatesService } from './tax-rates.service';

@Module({
  imports: [TypeOrmModule.forFeature([TaxRateEntity])],
  controllers: [TaxRatesController],
  providers: [TaxRatesRepository, TaxRatesService],
  exports: [TaxRatesService],
})
export class TaxRatesModule {}
