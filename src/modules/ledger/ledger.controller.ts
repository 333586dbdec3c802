import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../platform/errors';
import { Operation, type PageDto, pageOf, toPageDto, toPageRequest } from '../../platform/http';
import {
  LedgerAccountsDto,
  ListLedgerAccountsDto,
  toLedgerAccountsDto,
} from './dto/ledger-account.dto';
import {
  LedgerTransactionDto,
  ListLedgerTransactionsDto,
  toLedgerTransactionDto,
  toTransactionFilter,
} from './dto/ledger-transaction.dto';
import { LedgerVerificationDto, toLedgerVerificationDto } from './dto/ledger-verification.dto';
import { LedgerChecks } from './ledger-checks';
import { LedgerService } from './ledger.service';

@ApiTags('Ledger')
@Controller('v1/ledger')
export class LedgerController {
  constructor(
    private readonly ledger: LedgerService,
    private readonly checks: LedgerChecks,
  ) {}

  @Get('accounts')
  @Operation({
    summary: 'List the accounts of the ledger',
    description: 'With their balances, of all customers or of one.',
    status: 200,
    answer: LedgerAccountsDto,
    reads: 'query',
  })
  async listLedgerAccounts(@Query() query: ListLedgerAccountsDto): Promise<LedgerAccountsDto> {
    return toLedgerAccountsDto(await this.ledger.balances(query.customer_id ?? null));
  }

  @Get('transactions')
  @Operation({
    summary: 'List the transactions of the ledger',
    status: 200,
    answer: pageOf(LedgerTransactionDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listLedgerTransactions(
    @Query() query: ListLedgerTransactionsDto,
  ): Promise<PageDto<LedgerTransactionDto>> {
    const page = await this.ledger.list(toTransactionFilter(query), toPageRequest(query, 'ltx'));
    return toPageDto(page, toLedgerTransactionDto);
  }

  @Get('verify')
  @Operation({
    summary: 'Verify the ledger',
    description:
      'Reads all of the books, as they are at one instant, and says of each thing that must hold whether it does.',
    status: 200,
    answer: LedgerVerificationDto,
    reads: 'path',
  })
  async verifyLedger(): Promise<LedgerVerificationDto> {
    return toLedgerVerificationDto(await this.checks.run());
  }
}
