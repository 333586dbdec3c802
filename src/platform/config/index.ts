export { Configuration, ConfigurationError, isLoopback, loadConfiguration } from './configuration';
export { ConfigurationModule } from './configuration.module';
export { parseEncryptionKeys } from './encryption-keys';
export type { EncryptionKey } from './encryption-keys';
