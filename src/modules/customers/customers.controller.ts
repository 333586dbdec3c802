import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal, requireScope } from '../../platform/access';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, referenceNotFound, tooManyReports } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  Operation,
  type PageDto,
  pageOf,
  type SummaryDto,
  toSummaryDto,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import {
  customerCurrencyLocked,
  customerExternalIdTaken,
  customerNotFound,
} from './customers.errors';
import { CustomersService } from './customers.service';
import { CreateCustomerDto, toNewCustomer } from './dto/create-customer.dto';
import { CustomerDto, toCustomerDto } from './dto/customer.dto';
import {
  CustomerFilterDto,
  CustomerSummaryDto,
  ListCustomersDto,
  toCustomerFilter,
} from './dto/list-customers.dto';
import { toCustomerChange, UpdateCustomerDto } from './dto/update-customer.dto';

const customerId = new IdPipe('cus', customerNotFound);

@ApiTags('Customers')
@Controller('v1/customers')
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @Post()
  @Operation({
    summary: 'Create a customer',
    description:
      'Only `name` is required. Invoices copy the address and the tax rates when they are finalized.',
    access: 'customers:write',
    status: 201,
    answer: CustomerDto,
    key: 'optional',
    problems: [customerExternalIdTaken, referenceNotFound],
  })
  async createCustomer(@Body() body: CreateCustomerDto): Promise<CustomerDto> {
    return withETag(await this.customers.create(toNewCustomer(body)), toCustomerDto);
  }

  @Get()
  @Operation({
    summary: 'List customers',
    description: 'Newest first. Deleted customers are not listed.',
    access: 'customers:read',
    answer: pageOf(CustomerDto),
  })
  async listCustomers(
    @Query() query: ListCustomersDto,
    @Caller() caller: Principal,
  ): Promise<PageDto<CustomerDto>> {
    requireInvoices(query, caller);
    const page = await this.customers.list(toCustomerFilter(query), toPageRequest(query, 'cus'));
    return toPageDto(page, toCustomerDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up customers',
    description: 'Counts the customers that match the filters of the list, by currency.',
    access: 'customers:read',
    answer: CustomerSummaryDto,
    problems: [tooManyReports],
  })
  async summarizeCustomers(
    @Query() query: CustomerFilterDto,
    @Caller() caller: Principal,
  ): Promise<SummaryDto> {
    requireInvoices(query, caller);
    return toSummaryDto(await this.customers.summarize(toCustomerFilter(query)));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a customer',
    description:
      'Returns the customer as it is now; invoices keep the address they were finalized with.',
    access: 'customers:read',
    answer: CustomerDto,
    conditional: true,
    problems: [customerNotFound],
  })
  async getCustomer(@Param('id', customerId) id: string): Promise<CustomerDto> {
    return withETag(await this.customers.get(id), toCustomerDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a customer',
    description:
      'Changes the given fields; `null` clears optional ones. The currency cannot change once `currency_locked` is ' +
      'true. An empty body changes nothing.',
    access: 'customers:write',
    answer: CustomerDto,
    problems: [
      customerNotFound,
      customerExternalIdTaken,
      customerCurrencyLocked,
      metadataTooLarge,
      referenceNotFound,
    ],
  })
  async updateCustomer(
    @Param('id', customerId) id: string,
    @Body() body: UpdateCustomerDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<CustomerDto> {
    return withETag(
      await this.customers.update(id, toCustomerChange(body), expected),
      toCustomerDto,
    );
  }
}

/** Requires `invoices:read` for the filter `owing`, because the filter shows who has unpaid invoices. */
function requireInvoices({ owing }: CustomerFilterDto, caller: Principal): void {
  if (owing !== undefined) requireScope(caller, 'invoices:read');
}
