import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminAccounts } from './admin-accounts';
import { Passwords } from './passwords';
import { StudioAdminEntity } from './studio-admin.entity';
import { StudioController } from './studio.controller';
import { StudioRepository } from './studio.repository';
import { StudioService } from './studio.service';

@Module({
  imports: [TypeOrmModule.forFeature([StudioAdminEntity])],
  controllers: [StudioController],
  providers: [AdminAccounts, Passwords, StudioRepository, StudioService],
  exports: [AdminAccounts],
})
export class StudioModule {}
