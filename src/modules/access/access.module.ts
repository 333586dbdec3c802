import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomersModule } from '../customers';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { BootstrapKey } from './bootstrap-key';
import { Credentials } from './credentials';
import { CustomerTokenEntity } from './customer-token.entity';
import { CustomerTokensController } from './customer-tokens.controller';
import { CustomerTokensRepository } from './customer-tokens.repository';
import { CustomerTokensService } from './customer-tokens.service';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity, CustomerTokenEntity]), CustomersModule],
  controllers: [ApiKeysController, CustomerTokensController],
  providers: [
    ApiKeysRepository,
    ApiKeysService,
    BootstrapKey,
    Credentials,
    CustomerTokensRepository,
    CustomerTokensService,
  ],
})
export class AccessModule {}
