export { SecretBox } from './secret-box';
export { SecretsModule } from './secrets.module';
