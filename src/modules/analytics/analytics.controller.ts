import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { tooManyReports } from '../../platform/errors';
import { Operation } from '../../platform/http';
import { ReceivablesDto, ReceivablesQueryDto, toReceivablesDto } from './dto/receivables.dto';
import { ReceivablesService } from './receivables.service';

const MAX_CUSTOMERS = 100;

@ApiTags('Analytics')
@Controller('v1/analytics')
export class AnalyticsController {
  constructor(private readonly receivables: ReceivablesService) {}

  @Get('receivables')
  @Operation({
    summary: 'Read the receivables by age',
    description:
      'Amounts owed on open invoices, now or at an instant, by days overdue. Customers on test clocks are left ' +
      'out, and so are invoices that were written off. The total is the balance of the account `accounts_receivable` of these ' +
      'customers, now or at that instant. ' +
      'Names of customers are left out for callers without `customers:read`.',
    access: 'analytics:read',
    answer: ReceivablesDto,
    problems: [tooManyReports],
  })
  async getReceivables(
    @Query() query: ReceivablesQueryDto,
    @Caller() { scopes }: Principal,
  ): Promise<ReceivablesDto> {
    const isByCustomer = query.group_by === 'customer';
    const { at, rows } = await this.receivables.read(
      query.at === undefined ? null : new Date(query.at),
      isByCustomer,
      query.limit ?? MAX_CUSTOMERS,
    );
    return toReceivablesDto(at, rows, scopes.has('customers:read'));
  }
}
