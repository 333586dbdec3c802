export { customerCurrencyMismatch, customerNotFound } from './customers.errors';
export { CustomersModule } from './customers.module';
export { CustomersService } from './customers.service';
export { ExpandCustomerField, withCustomer } from './dto/expanded-customer.dto';
export { ExpandsCustomers } from './expand-customers.interceptor';
export type { Customer } from './domain/customer';
