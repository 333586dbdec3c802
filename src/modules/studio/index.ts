export { AdminAccounts } from './admin-accounts';
export { emailKeyOf } from './domain/studio-admin';
export type { AdminAccount } from './domain/studio-admin';
export { Passwords } from './passwords';
export { ProvidedAdmins } from './provided-admins.service';
export { studioAdminNotFound, tooManySignIns } from './studio.errors';
export { StudioModule } from './studio.module';
export { StudioService } from './studio.service';
export { StudioSettingsService } from './studio-settings.service';
