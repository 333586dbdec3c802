import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { invalidCursor } from '../../../platform/errors';
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
import {
  paymentMethodNotAccepted,
  paymentMethodNotFound,
  paymentProviderNotEnabled,
} from '../payments.errors';
import {
  CreatePaymentMethodDto,
  toNewPaymentMethod,
  UpdatePaymentMethodDto,
} from './dto/create-payment-method.dto';
import { PaymentMethodDto, toPaymentMethodDto } from './dto/payment-method.dto';
import { PaymentMethodsService } from './payment-methods.service';

const customerIdPipe = new IdPipe('cus', customerNotFound);
const methodIdPipe = new IdPipe('pm', paymentMethodNotFound);

@ApiTags('Payment methods')
@Controller('v1/customers/:customer_id/payment-methods')
export class PaymentMethodsController {
  constructor(private readonly methods: PaymentMethodsService) {}

  @Post()
  @Operation({
    summary: 'Add a payment method',
    description:
      'Keeps what a provider knows how to charge, for later payments. A customer has one default at most.',
    access: 'payments:write',
    status: 201,
    answer: PaymentMethodDto,
    reads: 'post',
    key: 'optional',
    problems: [customerNotFound, paymentMethodNotAccepted, paymentProviderNotEnabled],
  })
  async createPaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Body() body: CreatePaymentMethodDto,
  ): Promise<PaymentMethodDto> {
    return withETag(
      await this.methods.create(customerId, toNewPaymentMethod(body)),
      toPaymentMethodDto,
    );
  }

  @Get()
  @Operation({
    summary: 'List payment methods',
    description: 'Newest first.',
    access: 'payments:read',
    status: 200,
    answer: pageOf(PaymentMethodDto),
    reads: 'query',
    problems: [customerNotFound, invalidCursor],
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
    status: 200,
    answer: PaymentMethodDto,
    reads: 'path',
    problems: [customerNotFound, paymentMethodNotFound],
  })
  async getPaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', methodIdPipe) id: string,
  ): Promise<PaymentMethodDto> {
    return withETag(await this.methods.get(customerId, id), toPaymentMethodDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a payment method',
    description: 'Makes it the default or not; the one that was, is not any more.',
    access: 'payments:write',
    status: 200,
    answer: PaymentMethodDto,
    reads: 'change',
    problems: [customerNotFound, paymentMethodNotFound],
  })
  async updatePaymentMethod(
    @Param('customer_id', customerIdPipe) customerId: string,
    @Param('id', methodIdPipe) id: string,
    @Body() body: UpdatePaymentMethodDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<PaymentMethodDto> {
    return withETag(
      await this.methods.update(customerId, id, body.is_default, expected),
      toPaymentMethodDto,
    );
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a payment method',
    description: 'Nothing charges it any more; a default that is deleted leaves none.',
    access: 'payments:write',
    status: 204,
    reads: 'removal',
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
