import { Module } from '@nestjs/common';
import { TaxRatesController } from './tax-rates.controller';
import { TaxRatesRepository } from './tax-rates.repository';
import { TaxRatesService } from './tax-rates.service';

@Module({
  controllers: [TaxRatesController],
  providers: [TaxRatesRepository, TaxRatesService],
  exports: [TaxRatesService],
})
export class TaxRatesModule {}
