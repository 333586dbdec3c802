import { Controller, Post, Req } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Operation } from '../../../platform/http';
import { paymentProviderNotEnabled, webhookSignatureInvalid } from '../payments.errors';
import { ProviderEventsService } from './provider-events.service';
import { PROVIDER_WEBHOOKS_PATH } from './webhook-route';

/** A public operation, because the signature of the body is the credential. */
@ApiTags('Payments')
@Controller(PROVIDER_WEBHOOKS_PATH)
export class ProviderWebhooksController {
  constructor(private readonly events: ProviderEventsService) {}

  @Post()
  @ApiHeader({
    name: 'Stripe-Signature',
    required: false,
    description: 'Made by Stripe with the signing secret of the webhook. Mandatory.',
    schema: { type: 'string' },
  })
  @Operation({
    summary: 'Receive a notification from Stripe',
    description:
      'Called by Stripe. Stores the event and answers at once; the payment or refund is read from Stripe afterwards. An event that is ' +
      'sent again is stored once. Events about other objects are ignored. The credential is the signature of the body.',
    access: 'public',
    reads: 'raw',
    problems: [paymentProviderNotEnabled, webhookSignatureInvalid],
  })
  async receiveStripeEvent(@Req() request: Request): Promise<void> {
    const body: unknown = request.body;
    const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    await this.events.receive(raw, request.get('stripe-signature') ?? '');
  }
}
