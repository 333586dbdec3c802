import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { customerNotFound } from '../customers';
import {
  CreditBalanceTransactionDto,
  toCreditBalanceTransactionDto,
} from './dto/credit-balance-transaction.dto';
import { LedgerService } from './ledger.service';

@ApiTags('Credit balance')
@Controller('v1/customers/:customer_id/balance/transactions')
export class CreditBalanceTransactionsController {
  constructor(private readonly ledger: LedgerService) {}

  @Get()
  @Operation({
    summary: 'List the transactions of a credit balance',
    description: 'Newest first. The amounts of all add up to the balance.',
    access: 'invoices:read',
    answer: pageOf(CreditBalanceTransactionDto),
    problems: [customerNotFound],
  })
  async listCreditBalanceTransactions(
    @Param('customer_id', new IdPipe('cus', customerNotFound)) customerId: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<CreditBalanceTransactionDto>> {
    const page = await this.ledger.listCreditOf(customerId, toPageRequest(query, 'ltx'));
    return toPageDto(page, toCreditBalanceTransactionDto);
  }
}
