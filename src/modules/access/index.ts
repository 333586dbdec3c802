export { AccessModule } from './access.module';
export { Credentials } from './credentials';
