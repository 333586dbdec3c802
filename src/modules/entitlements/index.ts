export { EntitlementsModule } from './entitlements.module';
