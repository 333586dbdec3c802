export { AdminAccounts } from './admin-accounts';
export { emailKeyOf } from './domain/studio-admin';
export type { AdminAccount } from './domain/studio-admin';
export { tooManySignIns } from './studio.errors';
export { StudioModule } from './studio.module';
export { StudioSettingsService } from './studio-settings.service';
