export { FEATURE_KEY } from './domain/feature';
export { entitlementInUse, entitlementNotFound } from './features.errors';
export { FeaturesModule } from './features.module';
export { FeaturesService } from './features.service';
