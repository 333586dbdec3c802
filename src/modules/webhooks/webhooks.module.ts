import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsController } from './webhook-endpoints.controller';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';
import { WebhookSecretEntity } from './webhook-secret.entity';
import { WebhookSecretsRepository } from './webhook-secrets.repository';
import { WebhookSecretsService } from './webhook-secrets.service';

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEndpointEntity, WebhookSecretEntity])],
  controllers: [WebhookEndpointsController],
  providers: [
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    WebhookSecretsRepository,
    WebhookSecretsService,
  ],
})
export class WebhooksModule {}
