import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { tooManyReports } from '../../platform/errors';
import { Operation, type PageDto, pageOf, toPageDto, toPageRequest } from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import {
  LedgerAccountDto,
  LedgerAccountsDto,
  ListLedgerAccountsDto,
  toLedgerAccountsDto,
} from './dto/ledger-account.dto';
import {
  LedgerTransactionDto,
  ListLedgerTransactionsDto,
  POSTING_ROWS,
  toLedgerTransactionDto,
  toTransactionFilter,
} from './dto/ledger-transaction.dto';
import {
  LedgerVerificationDto,
  toChangedSince,
  toLedgerVerificationDto,
  VerifyLedgerDto,
} from './dto/ledger-verification.dto';
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
    description: 'Returns the balances for all customers or for one, now or at an instant.',
    access: 'ledger:read',
    answer: LedgerAccountsDto,
    csvItem: LedgerAccountDto,
    problems: [tooManyReports],
  })
  async listLedgerAccounts(@Query() query: ListLedgerAccountsDto): Promise<LedgerAccountsDto> {
    const before = query.at === undefined ? null : new Date(query.at);
    return toLedgerAccountsDto(await this.ledger.balances(query.customer_id ?? null, before));
  }

  @Get('transactions')
  @ExpandsCustomers()
  @Operation({
    summary: 'List the transactions of the ledger',
    description:
      'Newest first, each with its postings. As CSV, one row for each posting, with `account`, `debit` and `credit`.',
    access: 'ledger:read',
    answer: pageOf(withCustomer(LedgerTransactionDto)),
    csvRows: POSTING_ROWS,
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
      'Checks every invariant of the whole ledger in one snapshot; with `changed_since`, only transactions made since then and the invariants of their customers.',
    access: 'ledger:read',
    answer: LedgerVerificationDto,
    problems: [tooManyReports],
  })
  async verifyLedger(@Query() query: VerifyLedgerDto): Promise<LedgerVerificationDto> {
    const { results, lastReconciliation } = await this.checks.run(toChangedSince(query));
    return toLedgerVerificationDto(results, lastReconciliation);
  }
}
