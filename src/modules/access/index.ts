export { AccessModule } from './access.module';
export { ApiKeysService } from './api-keys.service';
export { Credentials } from './credentials';
