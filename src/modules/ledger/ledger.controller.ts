import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { tooManyReports } from '../../platform/errors';
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
    description: 'Returns the accounts with their balances, for all customers or for one.',
    access: 'ledger:read',
    answer: LedgerAccountsDto,
    reads: 'query',
  })
  async listLedgerAccounts(@Query() query: ListLedgerAccountsDto): Promise<LedgerAccountsDto> {
    return toLedgerAccountsDto(await this.ledger.balances(query.customer_id ?? null));
  }

  @Get('transactions')
  @Operation({
    summary: 'List the transactions of the ledger',
    description: 'Newest first, each with its postings.',
    access: 'ledger:read',
    answer: pageOf(LedgerTransactionDto),
    reads: 'list',
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
      'Reads the whole ledger in one snapshot and checks every invariant. Calls no payment provider: `last_reconciliation` is the last comparison with one.',
    access: 'ledger:read',
    answer: LedgerVerificationDto,
    reads: 'path',
    problems: [tooManyReports],
  })
  async verifyLedger(): Promise<LedgerVerificationDto> {
    const { results, lastReconciliation } = await this.checks.run();
    return toLedgerVerificationDto(results, lastReconciliation);
  }
}
