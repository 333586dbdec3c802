export { customerCurrencyMismatch, customerNotFound } from './customers.errors';
export { CustomersModule } from './customers.module';
export { CustomersService } from './customers.service';
export type { Customer } from './domain/customer';
