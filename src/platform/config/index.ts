export {
  Configuration,
  ConfigurationError,
  loadCommandConfiguration,
  loadConfiguration,
} from './configuration';
export type { RateLimitSettings } from './configuration';
export { ConfigurationModule } from './configuration.module';
export { parseEncryptionKeys } from './encryption-keys';
export type { EncryptionKey } from './encryption-keys';
export { isLoopback } from './loopback';
export type { OpenIdSettings } from './read-openid';
