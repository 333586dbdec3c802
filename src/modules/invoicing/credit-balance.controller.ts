import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation } from '../../platform/http';
import { customerNotFound } from '../customers';
import { CreditBalanceService } from './credit-balance.service';
import { CreditBalanceDto, toCreditBalanceDto } from './dto/credit-balance.dto';
import { creditBalanceTooLarge } from './invoicing.errors';

const customerIdPipe = new IdPipe('cus', customerNotFound);

@ApiTags('Credit balance')
@Controller('v1/customers/:customer_id/balance')
export class CreditBalanceController {
  constructor(private readonly credit: CreditBalanceService) {}

  @Get()
  @Operation({
    summary: 'Read the credit balance of a customer',
    description:
      'Credit from credit notes, negative invoices and money that paid no invoice: payments without an invoice, ' +
      'overpayments, and payments of invoices that were voided. Invoices use it when they are finalized.',
    access: 'invoices:read',
    answer: CreditBalanceDto,
    problems: [customerNotFound, creditBalanceTooLarge],
  })
  async getCreditBalance(
    @Param('customer_id', customerIdPipe) customerId: string,
  ): Promise<CreditBalanceDto> {
    return toCreditBalanceDto(await this.credit.balanceOf(customerId));
  }
}
