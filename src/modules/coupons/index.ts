export { CouponsModule } from './coupons.module';
