import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeysRepository } from './api-keys.repository';
import { ApiKeysService } from './api-keys.service';
import { BootstrapKey } from './bootstrap-key';
import { Credentials } from './credentials';
import { CustomerTokensController } from './customer-tokens.controller';
import { CustomerTokensRepository } from './customer-tokens.repository';
import { CustomerTokensService } from './customer-tokens.service';

@Module({
  imports: [CustomersModule],
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
