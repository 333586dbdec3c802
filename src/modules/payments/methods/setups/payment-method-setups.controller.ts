import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../../../platform/http';
import { IdempotentInPhases } from '../../../../platform/idempotency';
import { customerNotFound } from '../../../customers';
import {
  paymentProviderNotEnabled,
  paymentProviderUnavailable,
  testClockNotChargeable,
} from '../../payments.errors';
import {
  CreatePaymentMethodSetupDto,
  PaymentMethodSetupDto,
  SetupSecretDto,
  toPaymentMethodSetupDto,
  toSetupSecretDto,
} from './dto/payment-method-setup.dto';
import {
  paymentMethodSetupEnded,
  paymentMethodSetupNotFound,
} from './payment-method-setups.errors';
import { PaymentMethodSetupsService } from './payment-method-setups.service';

const customerIdPipe = new IdPipe('cus', customerNotFound);
const setupIdPipe = new IdPipe('pms', paymentMethodSetupNotFound);

@ApiTags('Payment methods')
@Controller('v1/customers/:customer_id/payment-method-setups')
export class PaymentMethodSetupsController {
  constructor(private readonly setups: PaymentMethodSetupsService) {}

  @Post()
  @IdempotentInPhases()
  @Operation({
    summary: 'Set up a payment method',
    description:
      'Begins a setup, in which the customer enters a payment method in the browser, with 3-D Secure or a mandate where the bank wants ' +
      'it. Nothing is charged. Read its client secret, give it to the script of the provider, and wait for `payment_method_setup.succeeded`. ' +
      'The customer has 24 hours.',
    access: 'payments:write',
    status: 201,
    answer: PaymentMethodSetupDto,
    key: 'optional',
    problems: [
      customerNotFound,
      paymentProviderNotEnabled,
      paymentProviderUnavailable,
      testClockNotChargeable,
    ],
  })
  async createPaymentMethodSetup(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Body() body: CreatePaymentMethodSetupDto,
  ): Promise<PaymentMethodSetupDto> {
    const request = { provider: body.provider, isDefault: body.is_default ?? null };
    return withETag(await this.setups.create(customerId, request), toPaymentMethodSetupDto);
  }

  @Get()
  @Operation({
    summary: 'List setups of payment methods',
    description: 'Newest first.',
    access: 'payments:read',
    answer: pageOf(PaymentMethodSetupDto),
    problems: [customerNotFound],
  })
  async listPaymentMethodSetups(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<PaymentMethodSetupDto>> {
    const page = await this.setups.list(customerId, toPageRequest(query, 'pms'));
    return toPageDto(page, toPaymentMethodSetupDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a setup of a payment method',
    description: 'Returns the setup, with the payment method once it succeeded.',
    access: 'payments:read',
    answer: PaymentMethodSetupDto,
    conditional: true,
    problems: [customerNotFound, paymentMethodSetupNotFound],
  })
  async getPaymentMethodSetup(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', setupIdPipe) id: string,
  ): Promise<PaymentMethodSetupDto> {
    return withETag(await this.setups.get(customerId, id), toPaymentMethodSetupDto);
  }

  @Get(':id/client-secret')
  @Operation({
    summary: 'Read the client secret of a setup',
    description:
      'Returns the secret with which the provider’s script in the browser sets up the payment method. It is read from the provider for ' +
      'each request, and not stored. Send it to the customer only.',
    access: 'payments:write',
    answer: SetupSecretDto,
    problems: [
      customerNotFound,
      paymentMethodSetupNotFound,
      paymentMethodSetupEnded,
      paymentProviderUnavailable,
    ],
  })
  async getPaymentMethodSetupSecret(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', setupIdPipe) id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SetupSecretDto> {
    response.setHeader('Cache-Control', 'no-store');
    return toSetupSecretDto(await this.setups.secretOf(customerId, id));
  }
}
