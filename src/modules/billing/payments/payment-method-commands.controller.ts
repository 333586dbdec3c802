import { Body, Controller, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { IdPipe, IfMatch, Operation, withETag } from '../../../platform/http';
import { IdempotentInPhases } from '../../../platform/idempotency';
import { customerNotFound } from '../../customers';
import {
  CreatePaymentMethodDto,
  PaymentMethodDto,
  paymentMethodNotAccepted,
  paymentMethodNotFound,
  paymentProviderNotEnabled,
  paymentProviderUnavailable,
  testClockNotChargeable,
  toNewPaymentMethod,
  toPaymentMethodDto,
  UpdatePaymentMethodDto,
} from '../../payments';
import { SavePaymentMethodWorkflow } from './save-payment-method.workflow';

const customerIdPipe = new IdPipe('cus', customerNotFound);
const methodIdPipe = new IdPipe('pm', paymentMethodNotFound);

@ApiTags('Payment methods')
@Controller('v1/customers/:customer_id/payment-methods')
export class PaymentMethodCommandsController {
  constructor(private readonly savePaymentMethodWorkflow: SavePaymentMethodWorkflow) {}

  @Post()
  @IdempotentInPhases()
  @Operation({
    summary: 'Add a payment method',
    description:
      'Saves a method of a provider for later payments. A customer has at most one default.',
    access: 'payments:write',
    status: 201,
    answer: PaymentMethodDto,
    key: 'optional',
    problems: [
      customerNotFound,
      paymentMethodNotAccepted,
      paymentProviderNotEnabled,
      paymentProviderUnavailable,
      testClockNotChargeable,
    ],
  })
  async createPaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Body() body: CreatePaymentMethodDto,
  ): Promise<PaymentMethodDto> {
    return withETag(
      await this.savePaymentMethodWorkflow.create(customerId, toNewPaymentMethod(body)),
      toPaymentMethodDto,
    );
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a payment method',
    description: 'Sets `is_default`. A new default replaces the former one.',
    access: 'payments:write',
    answer: PaymentMethodDto,
    problems: [customerNotFound, paymentMethodNotFound],
  })
  async updatePaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', methodIdPipe) id: string,
    @Body() body: UpdatePaymentMethodDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<PaymentMethodDto> {
    return withETag(
      await this.savePaymentMethodWorkflow.update(customerId, id, body.is_default, expected),
      toPaymentMethodDto,
    );
  }
}
