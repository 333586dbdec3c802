import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TaxRatesModule } from '../tax-rates';
import { TestClocksModule } from '../test-clocks';
import { CustomerDeletionHooks } from './customer-deletion-hooks';
import { CustomerEntity } from './customer.entity';
import { CustomersPurge } from './customers-purge';
import { CustomersController } from './customers.controller';
import { CustomersRepository } from './customers.repository';
import { CustomersService } from './customers.service';

@Module({
  imports: [TypeOrmModule.forFeature([CustomerEntity]), TaxRatesModule, TestClocksModule],
  controllers: [CustomersController],
  providers: [CustomerDeletionHooks, CustomersRepository, CustomersService, CustomersPurge],
  exports: [CustomerDeletionHooks, CustomersService],
})
export class CustomersModule {}
