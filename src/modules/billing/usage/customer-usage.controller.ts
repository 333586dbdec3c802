import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation } from '../../../platform/http';
import { customerNotFound } from '../../customers';
import { invoiceTooLarge } from '../../invoicing';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { CustomerUsageDto, toCustomerUsageDto } from '../dto/customer-usage.dto';
import { QuoteUsageWorkflow } from './quote-usage.workflow';

const customerId = new IdPipe('cus', customerNotFound);

@ApiTags('Customers')
@Controller('v1/customers')
export class CustomerUsageController {
  constructor(private readonly usage: QuoteUsageWorkflow) {}

  @Get(':id/usage')
  @Operation({
    summary: 'Read the usage that is not billed yet',
    description:
      'What each metered price of the running subscriptions has counted so far, and what an invoice would charge for it ' +
      'now. Includes an ended period whose invoice still waits as a draft for late usage (`invoice_id`), and late usage ' +
      'of billed periods with the difference that it makes.',
    access: 'usage:read',
    answer: CustomerUsageDto,
    problems: [customerNotFound, ...TEST_CLOCK_PROBLEMS, invoiceTooLarge],
  })
  async getCustomerUsage(@Param('id', customerId) id: string): Promise<CustomerUsageDto> {
    return toCustomerUsageDto(await this.usage.current(id));
  }
}
