export { RefundsModule } from './refunds.module';
