import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../../platform/http';
import { customerNotFound } from '../../customers';
import { paymentMethodNotFound } from '../payments.errors';
import { PaymentMethodDto, toPaymentMethodDto } from './dto/payment-method.dto';
import { PaymentMethodsService } from './payment-methods.service';

const customerIdPipe = new IdPipe('cus', customerNotFound);
const methodIdPipe = new IdPipe('pm', paymentMethodNotFound);

@ApiTags('Payment methods')
@Controller('v1/customers/:customer_id/payment-methods')
export class PaymentMethodsController {
  constructor(private readonly methods: PaymentMethodsService) {}

  @Get()
  @Operation({
    summary: 'List payment methods',
    description: 'Newest first.',
    access: 'payments:read',
    answer: pageOf(PaymentMethodDto),
    problems: [customerNotFound],
  })
  async listPaymentMethods(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<PaymentMethodDto>> {
    const page = await this.methods.list(customerId, toPageRequest(query, 'pm'));
    return toPageDto(page, toPaymentMethodDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a payment method',
    description: 'Returns the payment method as the provider describes it.',
    access: 'payments:read',
    answer: PaymentMethodDto,
    conditional: true,
    problems: [customerNotFound, paymentMethodNotFound],
  })
  async getPaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', methodIdPipe) id: string,
  ): Promise<PaymentMethodDto> {
    return withETag(await this.methods.get(customerId, id), toPaymentMethodDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a payment method',
    description:
      'The method is not charged any more. If it was the default, the customer has no default. If the provider keeps the method, it is detached there within seconds, or after pending payments with it have ended.',
    access: 'payments:write',
    problems: [customerNotFound, paymentMethodNotFound],
  })
  async deletePaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', methodIdPipe) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.methods.delete(customerId, id, expected);
  }
}
