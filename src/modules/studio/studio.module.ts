import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminAccounts } from './admin-accounts';
import { Passwords } from './passwords';
import { StudioAdminEntity } from './studio-admin.entity';
import { StudioSettingsController } from './studio-settings.controller';
import { StudioSettingsEntity } from './studio-settings.entity';
import { StudioSettingsRepository } from './studio-settings.repository';
import { StudioSettingsService } from './studio-settings.service';
import { StudioController } from './studio.controller';
import { StudioRepository } from './studio.repository';
import { StudioService } from './studio.service';

@Module({
  imports: [TypeOrmModule.forFeature([StudioAdminEntity, StudioSettingsEntity])],
  controllers: [StudioController, StudioSettingsController],
  providers: [
    AdminAccounts,
    Passwords,
    StudioRepository,
    StudioService,
    StudioSettingsRepository,
    StudioSettingsService,
  ],
  exports: [AdminAccounts, StudioSettingsService],
})
export class StudioModule {}
