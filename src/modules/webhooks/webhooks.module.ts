import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { AttemptRetention } from './delivery/attempt-retention';
import { DeliveriesController } from './delivery/deliveries.controller';
import { DeliveriesRepository } from './delivery/deliveries.repository';
import { DeliveriesService } from './delivery/deliveries.service';
import { DeliveryClaims } from './delivery/delivery-claims';
import { DeliveryDiscards } from './delivery/delivery-discards';
import { DeliverySender } from './delivery/delivery-sender';
import { DeliveryWorker } from './delivery/delivery-worker';
import { DiscardsRepository } from './delivery/discards.repository';
import { EndpointDeliveriesController } from './delivery/endpoint-deliveries.controller';
import { EndpointQueue } from './delivery/endpoint-queue';
import { EventDispatcher } from './delivery/event-dispatcher';
import { HeadsRepository } from './delivery/heads.repository';
import { ReceiversRepository } from './delivery/receivers.repository';
import { RetryDeliveriesService } from './delivery/retry-deliveries.service';
import { ResultWriter } from './delivery/result-writer';
import { EventTypesController } from './events/event-types.controller';
import { EventsController } from './events/events.controller';
import { EventsService } from './events/events.service';
import { ReplaySteps } from './replay/replay-steps';
import { ReplaysController } from './replay/replays.controller';
import { ReplaysRepository } from './replay/replays.repository';
import { ReplaysService } from './replay/replays.service';
import { WebhookEndpointsController } from './webhook-endpoints.controller';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';
import { WebhookSecretsRepository } from './webhook-secrets.repository';
import { WebhookSecretsService } from './webhook-secrets.service';

@Module({
  imports: [CustomersModule],
  controllers: [
    WebhookEndpointsController,
    EndpointDeliveriesController,
    ReplaysController,
    DeliveriesController,
    EventTypesController,
    EventsController,
  ],
  providers: [
    AttemptRetention,
    DeliveriesRepository,
    DeliveriesService,
    DeliveryClaims,
    DeliveryDiscards,
    DeliverySender,
    DeliveryWorker,
    DiscardsRepository,
    EndpointQueue,
    EventDispatcher,
    EventsService,
    HeadsRepository,
    ReceiversRepository,
    ReplaysRepository,
    ReplaysService,
    ReplaySteps,
    ResultWriter,
    RetryDeliveriesService,
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    WebhookSecretsRepository,
    WebhookSecretsService,
  ],
})
export class WebhooksModule {}
