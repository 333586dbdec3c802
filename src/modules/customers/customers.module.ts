import { Module } from '@nestjs/common';
import { TaxRatesModule } from '../tax-rates';
import { TestClocksModule } from '../test-clocks';
import { CustomersPurge } from './customers-purge';
import { CustomersController } from './customers.controller';
import { CustomersRepository } from './customers.repository';
import { CustomersService } from './customers.service';

@Module({
  imports: [TaxRatesModule, TestClocksModule],
  controllers: [CustomersController],
  providers: [CustomersRepository, CustomersService, CustomersPurge],
  exports: [CustomersService],
})
export class CustomersModule {}
