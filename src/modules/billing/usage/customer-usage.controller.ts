import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation } from '../../../platform/http';
import { customerNotFound } from '../../customers';
import { invoiceTooLarge } from '../../invoicing';
import { testClockAdvancing, testClockFailed } from '../../test-clocks';
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
      'What each metered price of the running subscriptions counted so far, and what it costs: what the invoice would ' +
      'say if nothing more came. So is the usage of a period that is over, whose invoice waits as a draft for usage that ' +
      'is late (`invoice_id`). Usage that came late to billed periods is shown with the difference it makes.',
    access: 'usage:read',
    answer: CustomerUsageDto,
    problems: [customerNotFound, testClockAdvancing, testClockFailed, invoiceTooLarge],
  })
  async getCustomerUsage(@Param('id', customerId) id: string): Promise<CustomerUsageDto> {
    return toCustomerUsageDto(await this.usage.current(id));
  }
}
