import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TaxRatesModule } from '../tax-rates';
import { TestClocksModule } from '../test-clocks';
import { CustomerDeletions } from './customer-deletions';
import { CustomerEntity } from './customer.entity';
import { CustomersRemoval } from './customers-removal';
import { CustomersController } from './customers.controller';
import { CustomersRepository } from './customers.repository';
import { CustomersService } from './customers.service';

@Module({
  imports: [TypeOrmModule.forFeature([CustomerEntity]), TaxRatesModule, TestClocksModule],
  controllers: [CustomersController],
  providers: [CustomerDeletions, CustomersRepository, CustomersService, CustomersRemoval],
  exports: [CustomerDeletions, CustomersService],
})
export class CustomersModule {}
