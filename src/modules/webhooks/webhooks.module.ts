import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveriesController } from './delivery/deliveries.controller';
import { DeliveriesRepository } from './delivery/deliveries.repository';
import { DeliveriesService } from './delivery/deliveries.service';
import { DeliveryClaims } from './delivery/delivery-claims';
import { DeliveryWorker } from './delivery/delivery-worker';
import { EndpointDeliveriesController } from './delivery/endpoint-deliveries.controller';
import { EventDispatcher } from './delivery/event-dispatcher';
import { HeadsRepository } from './delivery/heads.repository';
import { ReceiversRepository } from './delivery/receivers.repository';
import { ResultWriter } from './delivery/result-writer';
import { WebhookAttemptEntity } from './delivery/webhook-attempt.entity';
import { WebhookDeliveryEntity } from './delivery/webhook-delivery.entity';
import { WebhookFailureEntity } from './delivery/webhook-failure.entity';
import { WebhookHeadEntity } from './delivery/webhook-head.entity';
import { EventTypesController } from './events/event-types.controller';
import { EventsController } from './events/events.controller';
import { ReplaysController } from './replay/replays.controller';
import { ReplaysRepository } from './replay/replays.repository';
import { ReplaysService } from './replay/replays.service';
import { WebhookReplayEntity } from './replay/webhook-replay.entity';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsController } from './webhook-endpoints.controller';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';
import { WebhookSecretEntity } from './webhook-secret.entity';
import { WebhookSecretsRepository } from './webhook-secrets.repository';
import { WebhookSecretsService } from './webhook-secrets.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      WebhookAttemptEntity,
      WebhookDeliveryEntity,
      WebhookEndpointEntity,
      WebhookFailureEntity,
      WebhookHeadEntity,
      WebhookReplayEntity,
      WebhookSecretEntity,
    ]),
  ],
  controllers: [
    WebhookEndpointsController,
    EndpointDeliveriesController,
    ReplaysController,
    DeliveriesController,
    EventTypesController,
    EventsController,
  ],
  providers: [
    DeliveriesRepository,
    DeliveriesService,
    DeliveryClaims,
    DeliveryWorker,
    EventDispatcher,
    HeadsRepository,
    ReceiversRepository,
    ReplaysRepository,
    ReplaysService,
    ResultWriter,
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    WebhookSecretsRepository,
    WebhookSecretsService,
  ],
})
export class WebhooksModule {}
