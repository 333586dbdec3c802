import { Module } from '@nestjs/common';
import { AdminAccounts } from './admin-accounts';
import { Passwords } from './passwords';
import { ProvidedAdmins } from './provided-admins.service';
import { StudioSettingsController } from './studio-settings.controller';
import { StudioSettingsRepository } from './studio-settings.repository';
import { StudioSettingsService } from './studio-settings.service';
import { StudioController } from './studio.controller';
import { StudioRepository } from './studio.repository';
import { StudioService } from './studio.service';

@Module({
  controllers: [StudioController, StudioSettingsController],
  providers: [
    AdminAccounts,
    Passwords,
    ProvidedAdmins,
    StudioRepository,
    StudioService,
    StudioSettingsRepository,
    StudioSettingsService,
  ],
  exports: [AdminAccounts, ProvidedAdmins, StudioSettingsService],
})
export class StudioModule {}
