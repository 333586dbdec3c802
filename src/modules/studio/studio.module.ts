import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StudioAdminEntity } from './studio-admin.entity';
import { StudioController } from './studio.controller';
import { StudioRepository } from './studio.repository';
import { StudioService } from './studio.service';

@Module({
  imports: [TypeOrmModule.forFeature([StudioAdminEntity])],
  controllers: [StudioController],
  providers: [StudioRepository, StudioService],
})
export class StudioModule {}
