export { Configuration, ConfigurationError, loadConfiguration } from './configuration';
export { ConfigurationModule } from './configuration.module';
