export { Configuration, ConfigurationError, loadConfiguration } from './configuration';
export type { RateLimitSettings } from './configuration';
export { ConfigurationModule } from './configuration.module';
export { parseEncryptionKeys } from './encryption-keys';
export type { EncryptionKey } from './encryption-keys';
export { isLoopback } from './loopback';
export type { OpenIdSettings } from './read-openid';
